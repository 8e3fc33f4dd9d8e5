//! `signalbox usage export`: a month as a file.

use super::{Client, failed};
use crate::commands::{CommandError, print_aside, show};
use signalbox_api::v1::{
    ExportUsageRequest,
    export_usage_request::{Detail, Format},
    export_usage_response::Summary,
};
use std::{
    fs::{self, File},
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// What to export, and where to.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The month, in UTC, as in `2026-10`
    #[arg(long)]
    month: String,
    /// File to write; its ending, csv or parquet, says the form
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Whose; all tenants where left out
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
    /// What a row is
    #[arg(long, value_enum, default_value_t = Rows::Daily)]
    rows: Rows,
    /// Also a month that may still change
    #[arg(long)]
    allow_open: bool,
}

/// What a row is.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Rows {
    /// A day of a tenant, scene, task type, vendor and model
    Daily,
    /// A request
    Request,
    /// A model call
    Attempt,
}

/// Writes the file. One that is not whole is removed: nobody must be billed by it.
pub(super) async fn run(client: Client, args: ExportArgs) -> Result<(), CommandError> {
    let format = match args.output.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Format::Csv,
        Some("parquet") => Format::Parquet,
        _ => return Err(CommandError::new("--output must end in .csv or .parquet")),
    };
    let detail = match args.rows {
        Rows::Daily => Detail::Daily,
        Rows::Request => Detail::Request,
        Rows::Attempt => Detail::Attempt,
    };
    let request = ExportUsageRequest {
        tenant_id: args.tenant,
        month: args.month,
        format: format as i32,
        detail: detail as i32,
        allow_open: args.allow_open,
    };
    let partial = args.output.with_extension("partial");
    let summary = match fetch(client, request, &partial).await {
        Ok(summary) => summary,
        Err(error) => {
            let _may_not_exist = fs::remove_file(&partial);
            return Err(error);
        }
    };
    fs::rename(&partial, &args.output).map_err(|error| cannot_write(&args.output, &error))?;
    print_aside(&told(&args.output, &summary))
}

async fn fetch(
    mut client: Client,
    request: ExportUsageRequest,
    partial: &Path,
) -> Result<Summary, CommandError> {
    let mut pieces = client.export_usage(request).await.map_err(failed)?.into_inner();
    let mut file = File::create(partial).map_err(|error| cannot_write(partial, &error))?;
    let mut summary = None;
    while let Some(piece) = pieces.message().await.map_err(failed)? {
        file.write_all(&piece.data).map_err(|error| cannot_write(partial, &error))?;
        progress(piece.rows_done, piece.rows_total);
        summary = piece.summary.or(summary);
    }
    file.sync_all().map_err(|error| cannot_write(partial, &error))?;
    summary.ok_or_else(|| CommandError::new("the export broke off: it came without its closing sums"))
}

fn cannot_write(file: &Path, error: &io::Error) -> CommandError {
    CommandError::new(format!("{} cannot be written: {error}", file.display()))
}

/// A bar on a terminal; nothing elsewhere.
fn progress(done: u64, total: u64) {
    let mut screen = io::stderr();
    if !screen.is_terminal() || total == 0 {
        return;
    }
    let percent = done.saturating_mul(100) / total;
    let bar = "#".repeat(usize::try_from(percent / 4).unwrap_or_default().min(25));
    let end = if done >= total { "\n" } else { "" };
    let _screen_gone = write!(screen, "\r[{bar:<25}] {percent:>3} %  {done} of {total} rows{end}");
}

fn told(file: &Path, summary: &Summary) -> String {
    let cost = show::cost(&summary.cost.clone().unwrap_or_default());
    let hash: String = summary.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    let state = if summary.closed_time.is_some() { "closed, it will not change" } else { "STILL OPEN" };
    format!("{}: {cost}, the month is {state}, sha256 {hash}", file.display())
}
