//! `signalbox metrics`: what a process tells Prometheus, and what it means.

use super::{CommandError, print, show};
use signalbox_kit::telemetry::metrics::{Family, families};

const HELP: &str = "\
No server is asked: these are the metrics that this program registers, at /metrics of every process. Some have no series before \
something happens.";

/// How to show them.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct MetricsArgs {
    /// Print them as JSON
    #[arg(long)]
    json: bool,
}

/// Prints every metric with its labels.
pub(crate) fn run(args: &MetricsArgs) -> Result<(), CommandError> {
    crate::metrics::register();
    let all = families();
    print(&if args.json { json(&all) } else { table(&all) })
}

fn table(all: &[Family]) -> String {
    let row = |family: &Family| {
        vec![family.name.clone(), family.kind.to_owned(), family.labels.join(","), family.help.clone()]
    };
    let head = ["NAME", "KIND", "LABELS", "MEANING"].map(str::to_owned).to_vec();
    let rows: Vec<_> = std::iter::once(head).chain(all.iter().map(row)).collect();
    show::table(&rows, &[]).join("\n")
}

fn json(all: &[Family]) -> String {
    let one = |Family { name, kind, labels, help }: &Family| serde_json::json!({ "name": name, "kind": kind, "labels": labels, "help": help });
    serde_json::Value::Array(all.iter().map(one).collect()).to_string()
}
