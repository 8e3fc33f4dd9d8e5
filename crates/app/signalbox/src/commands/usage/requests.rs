//! `signalbox usage request`, `requests` and `tail`: single requests.

use super::{Client, failed, filter::FilterArgs};
use crate::commands::{
    CommandError, pages, print, print_aside, show,
    when::{self, WhenArgs},
};
use jiff::Timestamp;
use signalbox_api::{json, v1};
use std::num::NonZeroUsize;

/// Which request.
#[derive(Debug, clap::Args)]
pub(super) struct RequestArgs {
    /// Its id, as every answer tells it
    request_id: String,
    /// Whose it is
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
}

/// Which requests.
#[derive(Debug, clap::Args)]
pub(super) struct RequestsArgs {
    /// Most to print
    #[arg(long, default_value = "50")]
    limit: NonZeroUsize,
    #[command(flatten)]
    when: WhenArgs,
    #[command(flatten)]
    filter: FilterArgs,
}

/// Which requests to watch.
#[derive(Debug, clap::Args)]
pub(super) struct TailArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

/// Prints a request with all its calls, and those that have the same id.
pub(super) async fn one(mut client: Client, args: RequestArgs, as_json: bool) -> Result<(), CommandError> {
    let request = v1::GetRequestRequest { request_id: args.request_id, tenant_id: args.tenant };
    let answer = client.get_request(request).await.map_err(failed)?.into_inner();
    print(&if as_json { json::to_json(&answer)? } else { all_of(answer) })
}

/// Prints requests, a line each.
pub(super) async fn list(mut client: Client, args: RequestsArgs, as_json: bool) -> Result<(), CommandError> {
    let (start, end) = args.when.window(Timestamp::now());
    let asked = v1::ListRequestsRequest {
        filter: Some(args.filter.filter()),
        start_time: Some(start),
        end_time: end,
        ..v1::ListRequestsRequest::default()
    };
    let found = pages::up_to(args.limit.get(), async |page_size, page_token| {
        let request = v1::ListRequestsRequest { page_size, page_token, ..asked.clone() };
        let page = client.list_requests(request).await.map_err(failed)?.into_inner();
        Ok((page.events, page.next_page_token))
    });
    let (events, next_page_token) = found.await?;
    let found = v1::ListRequestsResponse { events, next_page_token };
    if as_json {
        return print(&json::to_json(&found)?);
    }
    print(&table(&found.events))
}

/// Prints requests as they end, until interrupted.
pub(super) async fn tail(mut client: Client, args: TailArgs, as_json: bool) -> Result<(), CommandError> {
    let request = v1::StreamUsageRequest { filter: Some(args.filter.filter()) };
    let mut events = client.stream_usage(request).await.map_err(failed)?.into_inner();
    while let Some(message) = events.message().await.map_err(failed)? {
        if message.skipped > 0 {
            print_aside(&format!("{} requests were left out: too many at a time", message.skipped))?;
        }
        let event = message.event.unwrap_or_default();
        print(&if as_json { json::to_json_line(&event)? } else { line(&event).join("  ") })?;
    }
    Ok(())
}

const HEAD: [&str; 9] =
    ["ENDED (UTC)", "REQUEST", "TENANT", "TASK TYPE", "SERVED BY", "TOKENS", "COST", "LATENCY", "OUTCOME"];

fn line(event: &v1::UsageEvent) -> Vec<String> {
    let usage = event.usage.unwrap_or_default();
    vec![
        when::shown(event.end_time.as_ref()),
        event.request_id.clone(),
        show::or_dash(event.tenant_id.clone()),
        show::or_dash(event.task_type.clone()),
        served_by(event),
        total(&usage).to_string(),
        show::cost(&event.cost.clone().unwrap_or_default()),
        show::wire_time(event.latency).unwrap_or_else(|| "-".to_owned()),
        outcome(event),
    ]
}

fn table(events: &[v1::UsageEvent]) -> String {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    rows.extend(events.iter().map(line));
    show::table(&rows, &[5, 6, 7]).join("\n")
}

/// The request, or where its id was used again, each of them in a line and the newest in full.
fn all_of(answer: v1::GetRequestResponse) -> String {
    let newest = answer.event.unwrap_or_default();
    if answer.earlier.is_empty() {
        return audit(&newest);
    }
    let (id, in_full) = (newest.request_id.clone(), audit(&newest));
    let events: Vec<_> = std::iter::once(newest).chain(answer.earlier).collect();
    let more = if answer.more { "or more " } else { "" };
    let count = events.len();
    let head = format!(
        "{count} {more}requests have the id {id}. Each was served and is paid by itself; newest first:"
    );
    [head, String::new(), table(&events), String::new(), "The newest:".to_owned(), in_full].join("\n")
}

fn served_by(event: &v1::UsageEvent) -> String {
    if event.vendor.is_empty() { "-".to_owned() } else { format!("{}/{}", event.vendor, event.model) }
}

fn outcome(event: &v1::UsageEvent) -> String {
    let word = show::word(event.outcome().as_str_name(), "OUTCOME_");
    if event.error_reason.is_empty() { word } else { format!("{word}: {}", event.error_reason) }
}

fn total(usage: &v1::TokenUsage) -> u64 {
    let counts = [
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cache_write_1h_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    ];
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

/// A request from top to bottom: what it was for, what it used and cost, each call, and why it went there.
fn audit(event: &v1::UsageEvent) -> String {
    let usage = event.usage.unwrap_or_default();
    let cost = show::cost(&event.cost.clone().unwrap_or_default());
    let latency = show::wire_time(event.latency).unwrap_or_else(|| "an unknown time".to_owned());
    let what = if event.reference.is_empty() { "This request" } else { event.reference.as_str() };
    let mut lines = vec![
        format!("{what} used {} tokens, by {}, cost {cost}, in {latency}.", total(&usage), served_by(event)),
        String::new(),
    ];
    let facts = [
        ("request", event.request_id.clone()),
        ("tenant", event.tenant_id.clone()),
        ("scene", event.scene.clone()),
        ("task type", event.task_type.clone()),
        ("asked for", event.requested_model.clone()),
        ("outcome", outcome(event)),
        ("why there", event.route_reason.clone()),
        (
            "tokens",
            if event.attempts.is_empty() {
                "none: no model was called".to_owned()
            } else {
                show::tokens(&usage)
            },
        ),
        ("began", when::shown(event.start_time.as_ref())),
        ("trace", event.trace_id.clone()),
        (
            "simulated",
            if event.simulated { "yes: nobody will send a bill".to_owned() } else { String::new() },
        ),
    ];
    let told = facts.iter().filter(|(_, fact)| !fact.is_empty());
    lines.extend(told.map(|(name, fact)| format!("{name:<10} {fact}")));
    lines.push(String::new());
    lines.extend(calls(event));
    lines.join("\n")
}

fn calls(event: &v1::UsageEvent) -> Vec<String> {
    let attempts: Vec<v1::Attempt> =
        event.attempts.iter().filter_map(|attempt| attempt.attempt.clone()).collect();
    let told = show::attempts(&attempts).into_iter().zip(&attempts);
    told.map(|(line, attempt)| {
        let cost = show::cost(&attempt.cost.clone().unwrap_or_default());
        format!("{line}: {} tokens, {cost}", total(&attempt.usage.unwrap_or_default()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_begins_with_what_one_article_used() {
        let usage = v1::TokenUsage { input_tokens: 900, output_tokens: 100, ..v1::TokenUsage::default() };
        let cost = v1::Cost { nano_eur: 1_500_000, ..v1::Cost::default() };
        let attempt = v1::Attempt {
            vendor: "openai".into(),
            model: "gpt-6-luna".into(),
            usage: Some(usage),
            cost: Some(cost.clone()),
            cause: v1::attempt::Cause::FirstChoice as i32,
            ..v1::Attempt::default()
        };
        let event = v1::UsageEvent {
            request_id: "r-1".into(),
            reference: "article-4711".into(),
            vendor: "openai".into(),
            model: "gpt-6-luna".into(),
            usage: Some(usage),
            cost: Some(cost),
            latency: Some(prost_types::Duration { seconds: 1, nanos: 250_000_000 }),
            outcome: v1::usage_event::Outcome::Succeeded as i32,
            attempts: vec![v1::UsageAttempt { attempt: Some(attempt), ..v1::UsageAttempt::default() }],
            ..v1::UsageEvent::default()
        };
        let audit = audit(&event);
        assert!(
            audit
                .starts_with("article-4711 used 1000 tokens, by openai/gpt-6-luna, cost €0.0015, in 1.25 s."),
            "{audit}"
        );
        assert!(audit.ends_with("(first choice) answered: 1000 tokens, €0.0015"), "{audit}");
    }

    #[test]
    fn requests_with_the_same_id_are_all_told_and_how_many_they_are() {
        let event = |nano_eur| v1::UsageEvent {
            request_id: "r-1".into(),
            cost: Some(v1::Cost { nano_eur, ..v1::Cost::default() }),
            ..v1::UsageEvent::default()
        };
        let answer = v1::GetRequestResponse {
            event: Some(event(3_000_000)),
            earlier: vec![event(2_000_000), event(1_000_000)],
            more: false,
        };
        let told = all_of(answer.clone());
        assert!(told.starts_with("3 requests have the id r-1. Each was served"), "{told}");
        for cost in ["€0.003", "€0.002", "€0.001"] {
            assert!(told.contains(cost), "{cost}: {told}");
        }
        assert!(all_of(v1::GetRequestResponse { more: true, ..answer }).starts_with("3 or more requests"));
    }

    #[test]
    fn nobody_counted_the_tokens_of_a_request_that_reached_no_model() {
        let mut usage = v1::TokenUsage::default();
        usage.set_source(v1::token_usage::Source::Vendor);
        let audit = audit(&v1::UsageEvent { usage: Some(usage), ..v1::UsageEvent::default() });
        assert!(audit.contains("tokens     none: no model was called"), "{audit}");
    }
}
