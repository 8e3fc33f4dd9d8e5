//! Why a model was left out, and what to tell the caller when all are.

use signalbox_types::{Capabilities, ErrorReason, Failure, ModelRef, Money, Tier};
use std::{fmt, sync::Arc, time::Duration};

/// Why a model was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusion {
    /// The catalogue does not know it.
    Unknown,
    /// Its vendor has no key or address here.
    NotConfigured,
    /// Its vendor has shut it down.
    Retired,
    /// It cannot do these things.
    Lacks(Capabilities),
    /// The prompt does not fit.
    WindowTooSmall {
        /// Estimated tokens of prompt and answer.
        needed: u64,
        /// Tokens it holds.
        window: u32,
    },
    /// On the tenant's deny list.
    Denied,
    /// Not on the tenant's allow list.
    NotAllowed,
    /// It does not carry this label of the tenant's data policy.
    DataPolicy(Arc<str>),
    /// The tenant may use other tiers only; `None` where the model has no tier.
    TierNotAllowed(Option<Tier>),
    /// The budget leaves other tiers only; `None` where the model has no tier.
    TierClosed(Option<Tier>),
    /// The request could cost more than the budget leaves.
    TooDear {
        /// What it costs at most.
        ceiling: Money,
        /// What is left.
        allowance: Money,
    },
    /// Nobody knows what the request would cost, and budget or tenant wants that known.
    PriceUnknown,
    /// Its first useful output takes too long at the 99th percentile, and others are quicker.
    TooSlow {
        /// How long it takes.
        p99: Duration,
        /// How long it may take.
        ceiling: Duration,
    },
    /// The vendor asked not to be called for this much longer.
    HeldBack(Duration),
    /// The vendor refuses our calls until someone mends that.
    Refused(Refused),
    /// It failed too often; it is tried again after this much longer.
    BreakerOpen(Duration),
    /// It is recovering and takes a share of the calls; this one is not among them.
    Recovering {
        /// Its share, rounded down.
        percent: u8,
    },
}

/// A refusal that only a person can mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// What is refused: the key, the account or a permission.
    pub reason: ErrorReason,
    /// It is tried again after this much longer, or when no other is left.
    pub left: Duration,
}

/// The share of a recovering model doubles each second, so that is how long to wait for better odds.
const RECOVERY_STEP: Duration = Duration::from_secs(1);

impl Exclusion {
    /// Which one it is, in a word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::NotConfigured => "not_configured",
            Self::Retired => "retired",
            Self::Lacks(_) => "lacks_capability",
            Self::WindowTooSmall { .. } => "window_too_small",
            Self::Denied => "denied",
            Self::NotAllowed => "not_allowed",
            Self::DataPolicy(_) => "data_policy",
            Self::TierNotAllowed(_) => "tier_not_allowed",
            Self::TierClosed(_) => "tier_closed",
            Self::TooDear { .. } => "too_dear",
            Self::PriceUnknown => "price_unknown",
            Self::TooSlow { .. } => "too_slow",
            Self::HeldBack(_) => "held_back",
            Self::Refused(_) => "refused",
            Self::BreakerOpen(_) => "breaker_open",
            Self::Recovering { .. } => "recovering",
        }
    }

    /// When it passes by itself, where it does.
    pub fn passes_in(&self) -> Option<Duration> {
        match self {
            Self::HeldBack(left) | Self::BreakerOpen(left) => Some(*left),
            Self::Refused(refused) => Some(refused.left),
            Self::Recovering { .. } => Some(RECOVERY_STEP),
            _ => None,
        }
    }

    /// Whether a call may be made all the same where no other candidate is left: a doubtful model is better than none.
    pub fn is_doubt(&self) -> bool {
        matches!(self, Self::BreakerOpen(_) | Self::Recovering { .. } | Self::Refused(_))
    }

    /// Whether it is for the budget's sake, so that a cheaper model may serve.
    pub fn is_thrift(&self) -> bool {
        matches!(self, Self::TierClosed(_) | Self::TooDear { .. })
    }

    /// What the caller is told if this is the reason for a refusal.
    fn reason(&self) -> ErrorReason {
        match self {
            Self::HeldBack(_) => ErrorReason::VendorRateLimited,
            Self::Refused(refused) => refused.reason,
            Self::BreakerOpen(_) | Self::Recovering { .. } => ErrorReason::VendorError,
            Self::WindowTooSmall { .. } => ErrorReason::ContextLengthExceeded,
            Self::TierClosed(_) | Self::TooDear { .. } | Self::PriceUnknown => ErrorReason::BudgetExhausted,
            Self::Lacks(_) | Self::NotConfigured | Self::TooSlow { .. } => ErrorReason::NoCapableModel,
            Self::Denied | Self::NotAllowed | Self::DataPolicy(_) | Self::TierNotAllowed(_) => {
                ErrorReason::PermissionDenied
            }
            Self::Unknown | Self::Retired => ErrorReason::UnknownModel,
        }
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("not in the catalogue"),
            Self::NotConfigured => f.write_str("vendor not configured: no key or address"),
            Self::Retired => f.write_str("shut down by its vendor"),
            Self::Lacks(missing) => {
                f.write_str("lacks ")?;
                for (index, capability) in missing.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { "" } else { ", " }, capability.name())?;
                }
                Ok(())
            }
            Self::WindowTooSmall { needed, window } => {
                write!(f, "about {needed} tokens do not fit its window of {window}")
            }
            Self::Denied => f.write_str("on the tenant's deny list"),
            Self::NotAllowed => f.write_str("not on the tenant's allow list"),
            Self::DataPolicy(label) => {
                write!(f, "not marked `{label}`, which the tenant's data policy asks for")
            }
            Self::TierNotAllowed(Some(tier)) => write!(f, "the tenant may not use {} models", tier.name()),
            Self::TierNotAllowed(None) => {
                f.write_str("the tenant may use certain tiers only, and it has no tier")
            }
            Self::TierClosed(Some(tier)) => write!(f, "the budget leaves no {} models", tier.name()),
            Self::TierClosed(None) => f.write_str("the budget leaves certain tiers only, and it has no tier"),
            Self::TooDear { ceiling, allowance } => {
                write!(f, "could cost {ceiling}, the budget leaves {allowance}")
            }
            Self::PriceUnknown => f.write_str("its price is unknown, and budget or tenant wants it known"),
            Self::TooSlow { p99, ceiling } => {
                let (p99, ceiling) = (p99.as_secs_f64(), ceiling.as_secs_f64());
                write!(f, "too slow: first output within {p99:.1} s (p99), {ceiling:.1} s allowed")
            }
            Self::HeldBack(left) => write!(f, "its vendor asked to wait {:.1} s more", left.as_secs_f64()),
            Self::Refused(Refused { reason, left }) => {
                write!(
                    f,
                    "its vendor refuses us ({}), tried again in {:.1} s",
                    reason.name(),
                    left.as_secs_f64()
                )
            }
            Self::BreakerOpen(left) => {
                write!(f, "failed too often, tried again in {:.1} s", left.as_secs_f64())
            }
            Self::Recovering { percent } => {
                write!(f, "recovering: takes {percent} % of the calls, not this one")
            }
        }
    }
}

/// In the order in which a caller could mend them; what passes by itself comes before all of these.
const SOONEST_MENDED: [ErrorReason; 4] = [
    ErrorReason::ContextLengthExceeded,
    ErrorReason::BudgetExhausted,
    ErrorReason::NoCapableModel,
    ErrorReason::PermissionDenied,
];

/// What to tell the caller when nobody can serve: the reason that could be mended soonest comes first.
pub(crate) fn refusal<'a>(left_out: impl Iterator<Item = (&'a ModelRef, &'a Exclusion)> + Clone) -> Failure {
    let told = left_out.clone().map(|(model, why)| format!("{model} {why}"));
    let message = format!("no model can serve this request: {}", told.collect::<Vec<_>>().join("; "));
    let waits = left_out.clone().filter_map(|(_, why)| Some((why.passes_in()?, why.reason())));
    if let Some((soonest, reason)) = waits.min_by_key(|(wait, _)| *wait) {
        return Failure { retry_after: Some(soonest), ..Failure::new(reason, message) };
    }
    // That a vendor is not configured is the weakest reason: it says nothing of the request.
    let telling = || left_out.clone().filter(|(_, why)| **why != Exclusion::NotConfigured);
    let given = |reason: &ErrorReason| telling().any(|(_, why)| why.reason() == *reason);
    let unconfigured = || left_out.clone().find(|(_, why)| **why == Exclusion::NotConfigured);
    let reason = SOONEST_MENDED.into_iter().find(given).or_else(|| Some(unconfigured()?.1.reason()));
    Failure::new(reason.unwrap_or(ErrorReason::UnknownModel), message)
}
