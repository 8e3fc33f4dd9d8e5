//! What a request's account charges to its budgets.

use signalbox_api::v1::{UsageEvent, token_usage::Source};

/// What a request is charged: the whole of it to each budget that pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charged {
    /// How much.
    pub nano_eur: i64,
    /// By estimate.
    pub estimated: bool,
}

impl Charged {
    /// What an account says: its cost. Where that is not known, what was set aside, and no less than the part of it that
    /// is known.
    pub fn of(event: &UsageEvent) -> Self {
        let Some(cost) = event.cost.as_ref() else { return Self::set_aside(event, 0) };
        if cost.unknown {
            return Self::set_aside(event, cost.nano_eur);
        }
        let estimated = event.usage.is_some_and(|usage| usage.source() == Source::Estimated);
        Self { nano_eur: cost.nano_eur, estimated }
    }

    fn set_aside(event: &UsageEvent, known: i64) -> Self {
        let reserved = event.charges.iter().map(|charge| charge.reserved_nano_eur);
        Self { nano_eur: reserved.fold(known, i64::max), estimated: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_api::v1::{Cost, TokenUsage, UsageCharge};

    fn charged(nano_eur: i64, unknown: bool, source: Source) -> Charged {
        let mut usage = TokenUsage::default();
        usage.set_source(source);
        Charged::of(&UsageEvent {
            cost: Some(Cost { nano_eur, unknown, ..Cost::default() }),
            usage: Some(usage),
            charges: [40, 50]
                .map(|reserved_nano_eur| UsageCharge { reserved_nano_eur, ..Default::default() })
                .into(),
            ..UsageEvent::default()
        })
    }

    #[test]
    fn what_is_charged_is_the_cost_and_where_that_is_unknown_what_was_set_aside() {
        assert_eq!(charged(7, false, Source::Vendor), Charged { nano_eur: 7, estimated: false });
        assert_eq!(charged(90, false, Source::Estimated), Charged { nano_eur: 90, estimated: true });
        assert_eq!(charged(7, true, Source::Vendor), Charged { nano_eur: 50, estimated: true });
        assert_eq!(charged(90, true, Source::Vendor), Charged { nano_eur: 90, estimated: true });
        assert_eq!(Charged::of(&UsageEvent::default()), Charged { nano_eur: 0, estimated: true });
    }
}
