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
use uuid::Uuid;

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
    /// What a row is. Rows of days and requests have all of a request's cost at the model that served it; those of calls
    /// have each vendor's own, to compare with its bill
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
    let mut partial = Partial::beside(&args.output)?;
    let summary = fetch(client, request, &mut partial).await?;
    partial.becomes(&args.output)?;
    print_aside(&told(&args.output, &summary))
}

/// A file of its own beside the one to be written, which is gone at the end unless it became that.
struct Partial {
    path: PathBuf,
    file: File,
}

impl Partial {
    fn beside(target: &Path) -> Result<Self, CommandError> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.{}.partial", Uuid::now_v7()));
        let file = File::create_new(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self { path, file })
    }

    fn write(&mut self, data: &[u8]) -> Result<(), CommandError> {
        self.file.write_all(data).map_err(|error| cannot_write(&self.path, &error))
    }

    fn becomes(self, target: &Path) -> Result<(), CommandError> {
        self.file.sync_all().map_err(|error| cannot_write(&self.path, &error))?;
        fs::rename(&self.path, target).map_err(|error| cannot_write(target, &error))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _is_renamed = fs::remove_file(&self.path);
    }
}

async fn fetch(
    mut client: Client,
    request: ExportUsageRequest,
    partial: &mut Partial,
) -> Result<Summary, CommandError> {
    let mut pieces = client.export_usage(request).await.map_err(failed)?.into_inner();
    let mut summary = None;
    while let Some(piece) = pieces.message().await.map_err(failed)? {
        partial.write(&piece.data)?;
        progress(piece.rows_done, piece.rows_total);
        summary = piece.summary.or(summary);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = files.collect();
        names.sort();
        names
    }

    #[test]
    fn exports_side_by_side_share_no_file_and_one_that_fails_leaves_none_and_removes_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let (csv, parquet) = (dir.path().join("x.csv"), dir.path().join("x.parquet"));
        fs::write(dir.path().join("x.partial"), "somebody's own").unwrap();
        let mut one = Partial::beside(&csv).unwrap();
        let mut other = Partial::beside(&parquet).unwrap();
        let failed = Partial::beside(&csv).unwrap();
        one.write(b"csv").unwrap();
        other.write(b"parquet").unwrap();
        drop(failed);
        one.becomes(&csv).unwrap();
        other.becomes(&parquet).unwrap();
        assert_eq!(names(dir.path()), ["x.csv", "x.parquet", "x.partial"]);
        assert_eq!(
            (fs::read(&csv).unwrap(), fs::read(&parquet).unwrap()),
            (b"csv".into(), b"parquet".into())
        );
    }
}
