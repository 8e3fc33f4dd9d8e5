//! What is published: it follows from a seed, so that everybody knows what must be stored.

use prost_types::{Duration, Timestamp};
use signalbox_api::v1::{
    Attempt, Cost, Lane, TokenUsage, UsageAttempt, UsageEvent,
    attempt::Cause,
    token_usage::Source,
    usage_attempt::Kind,
    usage_event::{Operation, Outcome},
};
use std::collections::BTreeMap;

/// Requests ended over this long, the last one just now: several days, and now and then two months.
const SECONDS: u64 = 36 * 3600;
const MODELS: [(&str, &str); 4] = [
    ("openai", "gpt-6-luna"),
    ("anthropic", "claude-haiku-5-5"),
    ("gemini", "gemini-3.5-flash-lite"),
    ("xai", "grok-4.3"),
];
const TENANTS: u64 = 8;

/// The events of one publisher, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledger {
    /// What all of it follows from.
    pub seed: u64,
    /// Which publisher.
    pub publisher: u64,
    /// How many.
    pub events: u64,
    /// When the last request ended, in seconds since 1970.
    pub until: i64,
}

/// What is counted, of one tenant and model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sums {
    /// Requests.
    pub(crate) requests: u64,
    /// Model calls.
    pub(crate) attempts: u64,
    /// Tokens read and written.
    pub(crate) tokens: u64,
    /// Cost.
    pub(crate) nano_eur: i64,
}

/// Sums by tenant and model.
pub(crate) type Account = BTreeMap<(String, String), Sums>;

impl Ledger {
    /// The account of one request.
    pub(crate) fn event(&self, number: u64) -> UsageEvent {
        let mut dice = Dice(mix(self.seed ^ mix(self.publisher)) ^ number);
        let (vendor, model) = MODELS[dice.below(4) as usize];
        let fallback = dice.below(8) == 0;
        let end = self.ended(number);
        let mut attempts = Vec::new();
        if fallback {
            attempts.push(attempt("openai", "gpt-6-luna", 0, dice.below(200_000), end));
        }
        attempts.push(attempt(vendor, model, 1 + dice.below(900), 1 + dice.below(5_000_000), end));
        UsageEvent {
            schema_version: 1,
            event_id: id("7", self, number),
            request_id: id("8", self, number),
            tenant_id: format!("tenant-{}", dice.below(TENANTS)),
            scene: ["web", "app"][dice.below(2) as usize].to_owned(),
            task_type: ["headline", "summary"][dice.below(2) as usize].to_owned(),
            locale: "it-IT".to_owned(),
            reference: format!("article-{}", number / 7),
            lane: Lane::Interactive.into(),
            operation: Operation::Generate.into(),
            vendor: vendor.to_owned(),
            model: model.to_owned(),
            route_reason: "first choice".to_owned(),
            usage: Some(together(&attempts)),
            cost: Some(paid(&attempts)),
            attempts,
            outcome: Outcome::Succeeded.into(),
            start_time: Some(Timestamp { seconds: end.seconds - 1, nanos: end.nanos }),
            end_time: Some(end),
            latency: Some(Duration { seconds: 1, nanos: 0 }),
            ..UsageEvent::default()
        }
    }

    /// One half ends as it is published, the other long before, so that the bus cannot know whether it came already.
    fn ended(&self, number: u64) -> Timestamp {
        if number.is_multiple_of(2) {
            return Timestamp { seconds: self.until, nanos: 0 };
        }
        let micros = SECONDS * 1_000_000 / self.events.max(1) * number;
        let begin = self.until - SECONDS.cast_signed();
        let nanos = i32::try_from(micros % 1_000_000 * 1000).unwrap_or_default();
        Timestamp { seconds: begin + (micros / 1_000_000).cast_signed(), nanos }
    }

    /// Adds what all of it comes to.
    pub(crate) fn add_to(&self, account: &mut Account) {
        for number in 0..self.events {
            let event = self.event(number);
            let usage = event.usage.unwrap_or_default();
            let sums = account.entry((event.tenant_id, event.model)).or_default();
            sums.requests += 1;
            sums.attempts += event.attempts.len() as u64;
            sums.tokens += usage.input_tokens + usage.output_tokens;
            sums.nano_eur += event.cost.map_or(0, |cost| cost.nano_eur);
        }
    }
}

/// What is told of a request whose process dies before it ends.
pub(crate) fn draft(event: &UsageEvent) -> UsageEvent {
    UsageEvent {
        outcome: Outcome::Failed.into(),
        error_reason: "UNAVAILABLE".to_owned(),
        end_time: None,
        latency: None,
        ..event.clone()
    }
}

/// A UUID that follows from the number.
fn id(variant: &str, ledger: &Ledger, number: u64) -> String {
    let seed = ledger.seed & 0xffff_ffff;
    format!("{seed:08x}-0000-{variant}000-8{:03x}-{number:012x}", ledger.publisher)
}

fn attempt(vendor: &str, model: &str, output_tokens: u64, nano_eur: u64, end: Timestamp) -> UsageAttempt {
    let usage = TokenUsage {
        input_tokens: 100 + nano_eur % 1000,
        output_tokens,
        source: Source::Vendor.into(),
        ..TokenUsage::default()
    };
    let cost = Cost { nano_eur: nano_eur.cast_signed(), price_version: "p1".to_owned(), ..Cost::default() };
    let attempt = Attempt {
        vendor: vendor.to_owned(),
        model: model.to_owned(),
        cause: Cause::FirstChoice.into(),
        latency: Some(Duration { seconds: 0, nanos: 400_000_000 }),
        usage: Some(usage),
        cost: Some(cost),
        ..Attempt::default()
    };
    UsageAttempt {
        attempt: Some(attempt),
        kind: Kind::Answer.into(),
        start_time: Some(end),
        ..UsageAttempt::default()
    }
}

fn together(attempts: &[UsageAttempt]) -> TokenUsage {
    let mut sum = TokenUsage { source: Source::Vendor.into(), ..TokenUsage::default() };
    for usage in attempts.iter().filter_map(|made| made.attempt.as_ref()?.usage.as_ref()) {
        sum.input_tokens += usage.input_tokens;
        sum.output_tokens += usage.output_tokens;
    }
    sum
}

fn paid(attempts: &[UsageAttempt]) -> Cost {
    let costs = attempts.iter().filter_map(|made| made.attempt.as_ref()?.cost.as_ref());
    let nano_eur = costs.map(|cost| cost.nano_eur).sum();
    Cost { nano_eur, price_version: "p1".to_owned(), ..Cost::default() }
}

/// Numbers that look drawn. Far cheaper than a generator made anew for each event.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0) % limit
    }
}

/// The finaliser of `SplitMix64`.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
