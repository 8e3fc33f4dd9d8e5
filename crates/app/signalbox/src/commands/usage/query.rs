//! `signalbox usage query`: sums as a table.

use super::{Client, failed, filter::FilterArgs};
use crate::commands::{
    CommandError, pages, print, show,
    when::{self, WhenArgs},
};
use jiff::Timestamp;
use signalbox_api::{json, v1};
use std::num::NonZeroUsize;
use v1::{UsageDimension, query_usage_request::Interval};

/// What to sum up.
#[derive(Debug, clap::Args)]
pub(super) struct QueryArgs {
    /// What to group by, as in `tenant,model`: tenant, key, scene, task-type, locale, reference, vendor, model, lane,
    /// operation, outcome, cache-outcome, error-reason, simulated. The cost of a request, failed calls included, stands at
    /// the vendor and model that served it: to compare with a vendor's bill, export the month with `--rows attempt`
    #[arg(long, value_delimiter = ',', value_parser = dimension)]
    by: Vec<UsageDimension>,
    /// Length of the buckets of time: hour, day or month, all in UTC; the whole window where left out
    #[arg(long, value_parser = interval)]
    interval: Option<Interval>,
    /// Most rows to print
    #[arg(long, default_value = "100")]
    limit: NonZeroUsize,
    #[command(flatten)]
    when: WhenArgs,
    #[command(flatten)]
    filter: FilterArgs,
}

fn dimension(text: &str) -> Result<UsageDimension, String> {
    let name = format!("USAGE_DIMENSION_{}", text.to_uppercase().replace('-', "_"));
    UsageDimension::from_str_name(&name)
        .filter(|dimension| *dimension != UsageDimension::Unspecified)
        .ok_or_else(|| format!("`{text}` is nothing to group by: there are {}", dimensions().join(", ")))
}

fn dimensions() -> Vec<String> {
    let all = (1..).map_while(|number| UsageDimension::try_from(number).ok());
    all.map(|dimension| show::word(dimension.as_str_name(), "USAGE_DIMENSION_").replace(' ', "-")).collect()
}

fn interval(text: &str) -> Result<Interval, String> {
    match text {
        "hour" => Ok(Interval::Hour),
        "day" => Ok(Interval::Day),
        "month" => Ok(Interval::Month),
        _ => Err("there are hour, day and month".to_owned()),
    }
}

/// Asks, page by page, and prints.
pub(super) async fn run(mut client: Client, args: QueryArgs, as_json: bool) -> Result<(), CommandError> {
    let (start, end) = args.when.window(Timestamp::now());
    let asked = v1::QueryUsageRequest {
        start_time: Some(start),
        end_time: end,
        filter: Some(args.filter.filter()),
        group_by: args.by.iter().map(|dimension| *dimension as i32).collect(),
        interval: args.interval.unwrap_or(Interval::Unspecified) as i32,
        ..Default::default()
    };
    let (mut rows_read, mut complete_until) = (0, None);
    let found = pages::up_to(args.limit.get(), async |page_size, page_token| {
        let request = v1::QueryUsageRequest { page_size, page_token, ..asked.clone() };
        let page = client.query_usage(request).await.map_err(failed)?.into_inner();
        rows_read += page.rows_read;
        complete_until = page.complete_until;
        Ok((page.rows, page.next_page_token))
    });
    let (rows, next_page_token) = found.await?;
    let found = v1::QueryUsageResponse { rows, next_page_token, rows_read, complete_until };
    print(&if as_json { json::to_json(&found)? } else { table(&found, &args.by, args.interval.is_some()) })
}

fn table(found: &v1::QueryUsageResponse, by: &[UsageDimension], in_buckets: bool) -> String {
    if found.rows.is_empty() {
        return "nothing was used in this window".to_owned();
    }
    let mut head: Vec<String> = if in_buckets { vec!["FROM".to_owned()] } else { Vec::new() };
    head.extend(
        by.iter().map(|dimension| show::word(dimension.as_str_name(), "USAGE_DIMENSION_").to_uppercase()),
    );
    let first_figure = head.len();
    head.extend(
        ["REQUESTS", "FAILED", "FELL BACK", "CACHE HITS", "TOKENS IN", "OUT", "COST", "SAVED", "P50", "P95"]
            .map(str::to_owned),
    );
    let right: Vec<usize> = (first_figure..head.len()).collect();
    let mut rows = vec![head];
    rows.extend(found.rows.iter().map(|row| cells(row, in_buckets)));
    let mut lines = show::table(&rows, &right);
    if !found.next_page_token.is_empty() {
        lines.push("There is more: raise --limit, or narrow the window.".to_owned());
    }
    if found.rows.iter().any(|row| row.cost_unknown_requests > 0) {
        lines.push("A cost with + leaves out requests whose cost is not known.".to_owned());
    }
    lines.join("\n")
}

fn cells(row: &v1::UsageRow, in_buckets: bool) -> Vec<String> {
    let mut cells = if in_buckets { vec![when::shown(row.start_time.as_ref())] } else { Vec::new() };
    cells.extend(row.group.iter().cloned().map(show::or_dash));
    let usage = row.usage.unwrap_or_default();
    let prompt =
        usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.cache_write_1h_tokens;
    let time = |of: fn(&v1::LatencySummary) -> Option<prost_types::Duration>| {
        row.latency.as_ref().and_then(of).and_then(|time| show::wire_time(Some(time)))
    };
    cells.extend([
        row.requests.to_string(),
        row.failed.to_string(),
        row.fallbacks.to_string(),
        row.cache_hits.to_string(),
        prompt.to_string(),
        (usage.output_tokens + usage.reasoning_tokens).to_string(),
        sum(row.cost.as_ref(), row.cost_unknown_requests > 0),
        sum(row.saved.as_ref(), false),
        time(|latency| latency.p50).unwrap_or_else(|| "-".to_owned()),
        time(|latency| latency.p95).unwrap_or_else(|| "-".to_owned()),
    ]);
    cells
}

fn sum(cost: Option<&v1::Cost>, and_more: bool) -> String {
    let known = cost.map_or(0, |cost| cost.nano_eur);
    let known = show::cost(&v1::Cost { nano_eur: known, ..v1::Cost::default() });
    if and_more { format!("{known}+") } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_a_table_that_says_what_it_leaves_out() {
        let row = v1::UsageRow {
            group: vec!["acme".to_owned(), String::new()],
            requests: 12,
            failed: 1,
            usage: Some(v1::TokenUsage {
                input_tokens: 900,
                cache_read_tokens: 100,
                output_tokens: 50,
                ..v1::TokenUsage::default()
            }),
            cost: Some(v1::Cost { nano_eur: 172_000, unknown: true, ..v1::Cost::default() }),
            cost_unknown_requests: 2,
            ..v1::UsageRow::default()
        };
        let found = v1::QueryUsageResponse { rows: vec![row], ..v1::QueryUsageResponse::default() };
        let expected = "\
TENANT  TASK TYPE  REQUESTS  FAILED  FELL BACK  CACHE HITS  TOKENS IN  OUT        COST  SAVED  P50  P95
acme    -                12       1          0           0       1000   50  €0.000172+  €0.00    -    -
A cost with + leaves out requests whose cost is not known.";
        let by = [UsageDimension::Tenant, UsageDimension::TaskType];
        assert_eq!(table(&found, &by, false), expected);
    }

    #[test]
    fn what_can_be_grouped_by_is_named_as_in_the_help() {
        assert_eq!(dimension("task-type"), Ok(UsageDimension::TaskType));
        let problem = dimension("weather").unwrap_err();
        assert!(problem.starts_with("`weather` is nothing to group by: there are tenant, "), "{problem}");
        for name in dimensions() {
            assert!(dimension(&name).is_ok(), "{name}");
        }
        assert!(dimension("unspecified").is_err());
    }
}
