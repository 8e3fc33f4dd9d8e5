//! Events as a newsroom would make them: made quickly, by the million, and always the same ones.

use crate::{calendar, random::Random};
use proptest::prelude::*;
use signalbox_api::v1::{
    Attempt, BudgetEffect, CacheEffect, Candidate, Cost, Decision, FinishReason, Lane, TokenUsage,
    UsageAttempt, UsageCharge, UsageEvent, attempt::Cause, budget_effect, cache_effect, token_usage::Source,
    usage_attempt::Kind, usage_event::Operation, usage_event::Outcome,
};
use std::time::{Duration, SystemTime};

const TENANTS: [&str; 8] =
    ["acme", "globex", "initech", "hooli", "stark", "wayne", "wonka", "d'Oh \u{201c}Müller\u{201d}, 100%"];
const SCENES: [&str; 4] = ["cms-editor", "newsletter", "comments", "search"];
const TASKS: [&str; 5] = ["headline", "summary", "translate", "tag", "search"];
const LOCALES: [&str; 3] = ["de-DE", "en-GB", ""];
const MODELS: [(&str, &str); 5] = [
    ("openai", "gpt-6-luna"),
    ("openai", "gpt-6-mini"),
    ("anthropic", "claude-6-sonnet"),
    ("gemini", "gemini-4-flash"),
    ("local", "llama-5"),
];
const FAULTS: [&str; 5] =
    ["VENDOR_TIMEOUT", "VENDOR_OVERLOADED", "VENDOR_ERROR", "OUTPUT_INVALID", "VENDOR_RATE_LIMITED"];

/// Events spread evenly over a span of time, in the order of their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Events {
    /// Others for another seed.
    pub seed: u64,
    /// How many.
    pub count: u64,
    /// When they begin to end.
    pub start: SystemTime,
    /// Over how long.
    pub span: Duration,
}

/// So many events over March 2026.
pub fn events(seed: u64, count: u64) -> impl Iterator<Item = UsageEvent> + Send + Clone {
    let (start, end) = (calendar::at(2026, 3, 1, 0, 0), calendar::at(2026, 4, 1, 0, 0));
    let all = Events { seed, count, start, span: end.duration_since(start).unwrap() };
    (0..count).map(move |number| all.event(number))
}

/// Any event of a week of March 2026, for property tests.
pub fn any_event() -> impl Strategy<Value = UsageEvent> {
    let (count, span) = (10_000, Duration::from_secs(7 * 86_400));
    (any::<u64>(), 0..count).prop_map(move |(seed, number)| {
        Events { seed, count, start: calendar::at(2026, 3, 2, 0, 0), span }.event(number)
    })
}

impl Events {
    /// One of them.
    pub fn event(&self, number: u64) -> UsageEvent {
        let mut random = Random::new(self.seed, number);
        let end = self.end_of(number, &mut random);
        // An article is worked on for a while, and then others are.
        let article = number / 100 + random.below(20);
        let mut event = asked(article, &mut random);
        event.event_id = self.id(number, end);
        event.request_id = format!("request-{}", event.event_id);
        answer(&mut event, &mut random);
        settle(&mut event, &mut random);
        let latency = Duration::from_micros(random.logarithmic(2_000, 30_000_000));
        event.latency = latency.try_into().ok();
        event.start_time = Some((end - latency).into());
        event.end_time = Some(end.into());
        if event.operation() == Operation::StreamGenerate && event.outcome() != Outcome::Failed {
            event.time_to_first_token = (latency / (2 + random.below(8) as u32)).try_into().ok();
            round(&mut event);
        }
        event
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = UsageEvent> + Send + Clone {
        (0..self.count).map(move |number| self.event(number))
    }

    fn end_of(&self, number: u64, random: &mut Random) -> SystemTime {
        let span = self.span.as_micros() as u64;
        let step = (span / self.count.max(1)).max(1);
        self.start + Duration::from_micros((step * number + random.below(step)) % span)
    }

    /// As a UUID of version 7 that tells the time, the seed and the number.
    fn id(&self, number: u64, end: SystemTime) -> String {
        let millis = end.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        let (high, low) = (millis >> 16, millis & 0xFFFF);
        let tail = number & 0xFFFF_FFFF_FFFF;
        format!(
            "{high:08x}-{low:04x}-7{:03x}-8{:03x}-{tail:012x}",
            self.seed & 0xFFF,
            (self.seed >> 12) & 0xFFF
        )
    }
}

/// Whole microseconds, as in all events.
fn round(event: &mut UsageEvent) {
    if let Some(time) = &mut event.time_to_first_token {
        time.nanos -= time.nanos % 1000;
    }
}

/// Who asked for what. As in life, one thing tells much about the others: a key belongs to one part of an application,
/// and a kind of work is mostly asked for in the same way and sent to the same models.
fn asked(article: u64, random: &mut Random) -> UsageEvent {
    if random.percent(1) {
        return UsageEvent {
            tenant_id: "signalbox".to_owned(),
            operation: Operation::Probe as i32,
            ..of_article(String::new(), random)
        };
    }
    // The first tenants ask for most.
    let tenant = random.below(8).min(random.below(8)) as usize;
    let key = usize::from(random.percent(30));
    let task = random.below(5) as usize;
    let operation = match TASKS[task] {
        "search" => Operation::Embed,
        "headline" if random.percent(90) => Operation::StreamGenerate,
        _ => Operation::Generate,
    };
    let lane = if TASKS[task] == "tag" && random.percent(90) { Lane::Batch } else { Lane::Interactive };
    let locale = if TASKS[task] == "translate" { random.below(3) as usize } else { tenant % 3 };
    let article = if random.percent(70) { format!("article-{article}") } else { String::new() };
    UsageEvent {
        tenant_id: TENANTS[tenant].to_owned(),
        key_id: format!("{}-key-{key}", TENANTS[tenant]),
        scene: SCENES[(tenant + key) % SCENES.len()].to_owned(),
        task_type: TASKS[task].to_owned(),
        locale: LOCALES[locale].to_owned(),
        lane: lane as i32,
        operation: operation as i32,
        structured: TASKS[task] == "tag",
        simulated: TENANTS[tenant] == "wonka" && random.percent(50),
        ..of_article(article, random)
    }
}

fn of_article(reference: String, random: &mut Random) -> UsageEvent {
    UsageEvent {
        schema_version: 1,
        trace_id: format!("{:016x}{:016x}", random.next(), random.next()),
        reference,
        lane: Lane::Interactive as i32,
        requested_model: "alias:smart".to_owned(),
        ..UsageEvent::default()
    }
}

/// The model that a kind of work is mostly sent to, and now and then any other.
fn model(event: &UsageEvent, random: &mut Random) -> (&'static str, &'static str) {
    let usual = TASKS.iter().position(|task| *task == event.task_type).unwrap_or(0);
    match random.below(100) {
        0..85 => MODELS[usual],
        85..97 => MODELS[(usual + 1) % MODELS.len()],
        _ => *random.pick(&MODELS),
    }
}

/// Who answered, and after which attempts.
fn answer(event: &mut UsageEvent, random: &mut Random) {
    let hit = random.percent(15) && event.operation() != Operation::Probe;
    let outcome = match random.below(100) {
        _ if hit => Outcome::Succeeded,
        0..90 => Outcome::Succeeded,
        90..97 => Outcome::Failed,
        _ => Outcome::Cancelled,
    };
    event.outcome = outcome as i32;
    let (vendor, model) = model(event, random);
    event.cache = cache(hit, random);
    if hit {
        (event.vendor, event.model) = (vendor.to_owned(), model.to_owned());
        event.route_reason = "exact hit".to_owned();
        return;
    }
    let refused = outcome == Outcome::Failed && random.percent(30);
    let failed_first = if refused { 0 } else { u64::from(random.percent(8)) + u64::from(random.percent(2)) };
    for number in 0..failed_first {
        let (model, fault) = (*random.pick(&MODELS), *random.pick(&FAULTS));
        event.attempts.push(attempt(model, number, event, fault, random));
    }
    if outcome == Outcome::Succeeded || outcome == Outcome::Cancelled {
        (event.vendor, event.model) = (vendor.to_owned(), model.to_owned());
        event.served_model = format!("{model}-2026-02-01");
        event.finish_reason = FinishReason::Stop as i32;
        event.attempts.push(attempt((vendor, model), failed_first, event, "", random));
    }
    if outcome == Outcome::Failed {
        let last = event.attempts.last().and_then(|last| last.attempt.as_ref());
        event.error_reason = last.map_or("BUDGET_EXHAUSTED", |last| &last.error_reason).to_owned();
    }
    event.route_reason =
        if failed_first > 0 { "fallback after VENDOR_TIMEOUT" } else { "first choice" }.to_owned();
    event.decision = Some(decision((vendor, model), random));
}

fn cache(hit: bool, random: &mut Random) -> Option<CacheEffect> {
    use cache_effect::Outcome::{Bypass, Coalesced, ExactHit, Miss, NormalizedHit, SemanticHit};
    if !hit {
        let outcome = *random.pick(&[Miss, Miss, Bypass]) as i32;
        return random.percent(80).then(|| CacheEffect { outcome, ..CacheEffect::default() });
    }
    let outcome = *random.pick(&[ExactHit, NormalizedHit, SemanticHit, Coalesced]) as i32;
    let saved = Some(cost(random.logarithmic(1_000, 50_000_000) as i64, random.percent(3)));
    Some(CacheEffect {
        outcome,
        saved,
        similarity: 0.97,
        entry_id: "entry-1".to_owned(),
        ..CacheEffect::default()
    })
}

fn attempt(
    (vendor, model): (&str, &str),
    number: u64,
    event: &UsageEvent,
    error_reason: &str,
    random: &mut Random,
) -> UsageAttempt {
    let unknown = random.percent(2);
    let usage = TokenUsage {
        input_tokens: random.logarithmic(50, 20_000),
        cache_read_tokens: if random.percent(30) { random.below(4_000) } else { 0 },
        cache_write_tokens: if random.percent(10) { random.below(4_000) } else { 0 },
        cache_write_1h_tokens: if random.percent(3) { random.below(4_000) } else { 0 },
        output_tokens: random.logarithmic(10, 3_000),
        reasoning_tokens: if random.percent(20) { random.below(2_000) } else { 0 },
        source: if random.percent(10) { Source::Estimated as i32 } else { Source::Vendor as i32 },
    };
    let price = (usage.input_tokens + 4 * usage.output_tokens) as i64 * 137;
    let cause = if number == 0 { Cause::FirstChoice } else { Cause::Fallback };
    let attempt = Attempt {
        vendor: vendor.to_owned(),
        model: model.to_owned(),
        error_reason: error_reason.to_owned(),
        vendor_status: if error_reason.is_empty() { 200 } else { 503 },
        cause: cause as i32,
        latency: Duration::from_micros(random.logarithmic(2_000, 10_000_000)).try_into().ok(),
        usage: (!unknown).then_some(usage),
        cost: Some(cost(price, unknown)),
        vendor_request_id: format!("req_{:012x}", random.below(1 << 48)),
        ..Attempt::default()
    };
    let before = event.attempts.last().and_then(|last| last.attempt.as_ref());
    UsageAttempt {
        attempt: Some(attempt),
        kind: Kind::Answer as i32,
        fallback_reason: before.map(|before| before.error_reason.clone()).unwrap_or_default(),
        served_model: model.to_owned(),
        simulated: event.simulated,
        ..UsageAttempt::default()
    }
}

fn cost(nano_eur: i64, unknown: bool) -> Cost {
    Cost {
        nano_eur: if unknown { 0 } else { nano_eur },
        unknown,
        price_version: "0123456789abcdef".to_owned(),
    }
}

fn decision(first: (&str, &str), random: &mut Random) -> Decision {
    let others = [first, *random.pick(&MODELS), *random.pick(&MODELS)];
    let candidates = others.into_iter().map(|(vendor, model)| Candidate {
        vendor: vendor.to_owned(),
        model: model.to_owned(),
        score: 0.73,
        factors: ["cost", "latency", "health", "quality"].map(|name| (name.to_owned(), 0.5)).into(),
        draw_probability: 0.33,
        standing: 1,
        ..Candidate::default()
    });
    Decision {
        requested: "alias:smart".to_owned(),
        candidates: candidates.collect(),
        catalog_version: "fedcba9876543210".to_owned(),
        ..Decision::default()
    }
}

/// Adds the attempts up, and tells who pays.
fn settle(event: &mut UsageEvent, random: &mut Random) {
    let mut usage = TokenUsage::default();
    let mut whole = cost(0, false);
    for attempt in event.attempts.iter().filter_map(|made| made.attempt.as_ref()) {
        let used = attempt.usage.unwrap_or_default();
        usage.input_tokens += used.input_tokens;
        usage.cache_read_tokens += used.cache_read_tokens;
        usage.cache_write_tokens += used.cache_write_tokens;
        usage.cache_write_1h_tokens += used.cache_write_1h_tokens;
        usage.output_tokens += used.output_tokens;
        usage.reasoning_tokens += used.reasoning_tokens;
        usage.source = usage.source.max(used.source);
        let paid = attempt.cost.as_ref();
        whole.nano_eur += paid.map_or(0, |paid| paid.nano_eur);
        whole.unknown |= paid.is_none_or(|paid| paid.unknown);
    }
    if whole.unknown {
        usage.source = Source::Unspecified as i32;
    }
    event.usage = Some(usage);
    event.budget = Some(BudgetEffect {
        outcome: budget_effect::Outcome::Admitted as i32,
        remaining: Some(cost(1_000_000_000_000, false)),
        ..BudgetEffect::default()
    });
    event.charges = vec![UsageCharge {
        budget_id: format!("{}-monthly", event.tenant_id),
        period_id: "2026-03".to_owned(),
        lease_id: format!("lease-{}", random.below(100)),
        ..UsageCharge::default()
    }];
    event.cost = Some(whole);
}
