//! A month as a file, written piece by piece while it is read.

mod attempts;
mod cell;
mod csv;
mod daily;
mod parquet;
mod requests;
mod sheet;

#[cfg(test)]
mod tests;

use crate::{failure, months, service::Dependencies};
use futures_util::{Stream, StreamExt, future};
use sheet::Sheet;
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{
        Cost, ExportUsageRequest, ExportUsageResponse,
        export_usage_request::{Detail, Format},
        export_usage_response::Summary,
    },
};
use signalbox_ports::usage_store::{Export, Exported};
use signalbox_types::{ErrorReason, Failure};
use std::time::SystemTime;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Pieces that wait for a slow reader.
const AHEAD: usize = 4;

type Piece = Result<ExportUsageResponse, Failure>;

/// What is asked for.
struct Wanted {
    format: Format,
    detail: Detail,
    query: Export,
}

impl Wanted {
    fn read(request: &ExportUsageRequest) -> Result<Self, Failure> {
        let mut violations = Violations::default();
        let format = known_enum::<Format>(request.format, "format", &mut violations);
        violations.check(format != Format::Unspecified, || "format", || "is required");
        let detail = known_enum::<Detail>(request.detail, "detail", &mut violations);
        violations.into_result()?;
        let query = Export { month: months::month(&request.month)?, tenant_id: request.tenant_id.clone() };
        Ok(Self { format, detail, query })
    }

    /// Writes the file.
    async fn write(
        &self,
        dependencies: &Dependencies,
        exported: Exported,
        outlet: &Outlet,
    ) -> Result<(), Stopped> {
        let Self { format, detail, query } = self;
        match detail {
            Detail::Request => {
                requests::write(exported, Sheet::new(*format, requests::COLUMNS), outlet).await
            }
            Detail::Attempt => {
                let sheet = Sheet::new(*format, attempts::COLUMNS);
                attempts::write(dependencies, query, exported, sheet, outlet).await
            }
            Detail::Daily | Detail::Unspecified => {
                daily::write(dependencies, query, Sheet::new(*format, daily::COLUMNS), outlet).await
            }
        }
    }
}

/// Answers `ExportUsage`.
pub(crate) async fn export(
    dependencies: &Dependencies,
    request: &ExportUsageRequest,
) -> Result<impl Stream<Item = Piece> + Send + use<>, Failure> {
    let wanted = Wanted::read(request)?;
    let exported = dependencies.store.export(&wanted.query).await.map_err(failure::of_store)?;
    if exported.closed_at.is_none() && !request.allow_open {
        let message = format!(
            "month: {} is not closed yet, so it may still change; set allow_open to export what there is",
            request.month
        );
        return Err(Failure::new(ErrorReason::MonthOpen, message));
    }
    let (pieces, reader) = mpsc::channel(AHEAD);
    let outlet = Outlet { pieces, closed_at: exported.closed_at };
    let dependencies = dependencies.clone();
    tokio::spawn(async move {
        if let Err(Stopped::Failed(failure)) = wanted.write(&dependencies, exported, &outlet).await {
            let _reader_gone = outlet.pieces.send(Err(failure)).await;
        }
    });
    // The stream is cut after the first failure.
    let mut failed = false;
    Ok(ReceiverStream::new(reader).take_while(move |piece| {
        let go_on = !failed;
        failed = piece.is_err();
        future::ready(go_on)
    }))
}

/// Why an export does not go on.
#[derive(Debug)]
enum Stopped {
    Failed(Failure),
    /// Nobody reads any more.
    Unread,
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Where pieces go.
struct Outlet {
    pieces: mpsc::Sender<Piece>,
    closed_at: Option<SystemTime>,
}

impl Outlet {
    /// Passes on what a sheet has ready. The first piece goes out at once: it says how many rows there will be.
    async fn pass<T>(&self, sheet: &mut Sheet<T>, total: u64) -> Result<(), Stopped> {
        let data = sheet.take();
        let piece = ExportUsageResponse {
            data: data.into(),
            rows_done: sheet.rows(),
            rows_total: total.max(sheet.rows()),
            summary: None,
        };
        self.pieces.send(Ok(piece)).await.map_err(|_| Stopped::Unread)
    }

    /// Ends the file.
    async fn end<T>(&self, sheet: Sheet<T>, cost: Cost) -> Result<(), Stopped> {
        let rows = sheet.rows();
        let (data, sha256) = sheet.finish()?;
        let summary =
            Summary { cost: Some(cost), sha256: sha256.into(), closed_time: self.closed_at.map(Into::into) };
        let piece = ExportUsageResponse {
            data: data.into(),
            rows_done: rows,
            rows_total: rows,
            summary: Some(summary),
        };
        self.pieces.send(Ok(piece)).await.map_err(|_| Stopped::Unread)
    }
}

/// The sum of costs, as `Cost` tells it.
#[derive(Debug, Default)]
struct Sum {
    nano_eur: i64,
    unknown: bool,
}

impl Sum {
    fn add(&mut self, cost: Option<&Cost>) {
        if let Some(cost) = cost {
            self.nano_eur = self.nano_eur.saturating_add(cost.nano_eur);
            self.unknown |= cost.unknown;
        }
    }

    fn told(&self) -> Cost {
        Cost { nano_eur: self.nano_eur, unknown: self.unknown, price_version: String::new() }
    }
}
