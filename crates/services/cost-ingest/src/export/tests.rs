use crate::{
    samples::NOW,
    world::{World, ago},
};
use futures_util::TryStreamExt;
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::Field,
};
use sha2::{Digest, Sha256};
use signalbox_api::{
    status::from_status,
    v1::{
        ExportUsageRequest, ExportUsageResponse, UsageEvent,
        export_usage_request::{Detail, Format},
        usage_service_server::UsageService,
    },
};
use signalbox_types::ErrorReason;
use std::fmt::Write as _;
use tonic::Request;

/// Seconds from [`NOW`] back into October.
const OCTOBER: i64 = 40 * 24 * 60 * 60;

fn request(format: Format, detail: Detail) -> ExportUsageRequest {
    ExportUsageRequest {
        month: "2026-10".to_owned(),
        format: format as i32,
        detail: detail as i32,
        ..Default::default()
    }
}

/// October of two tenants, closed; and one request of November.
async fn world() -> World {
    let world = World::new("{}").await;
    let odd = UsageEvent {
        tenant_id: "b,\"c\"\n".to_owned(),
        scene: "läuft 📰".to_owned(),
        ..ago("e2", OCTOBER + 90)
    };
    let mut failed_over = ago("e3", OCTOBER - 86_400);
    let mut first = failed_over.attempts[0].clone();
    first.attempt.as_mut().unwrap().error_reason = "VENDOR_TIMEOUT".to_owned();
    first.attempt.as_mut().unwrap().cost.as_mut().unwrap().nano_eur = 7;
    failed_over.cost.as_mut().unwrap().nano_eur += 7;
    failed_over.attempts.insert(0, first);
    world.store(vec![ago("e1", OCTOBER), odd, failed_over, ago("n1", 60)]).await;
    world.dependencies.store.close_months(*NOW).await.unwrap();
    world
}

struct File {
    bytes: Vec<u8>,
    pieces: Vec<ExportUsageResponse>,
}

async fn export(world: &World, request: ExportUsageRequest) -> File {
    let answer = world.usage.export_usage(Request::new(request)).await.unwrap().into_inner();
    let pieces: Vec<ExportUsageResponse> = answer.try_collect().await.unwrap();
    let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.data.to_vec()).collect();
    let last = pieces.last().unwrap().summary.as_ref().unwrap();
    assert_eq!(last.sha256, Sha256::digest(&bytes).to_vec());
    let rows = pieces.last().unwrap().rows_done;
    assert!(
        pieces.iter().all(|piece| piece.rows_total == rows),
        "the first piece says how many there will be"
    );
    File { bytes, pieces }
}

impl File {
    fn cost(&self) -> i64 {
        let summary = self.pieces.last().unwrap().summary.as_ref().unwrap();
        summary.cost.as_ref().unwrap().nano_eur
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    /// The rows of a Parquet file, as CSV has them.
    fn parquet(&self) -> String {
        let reader = SerializedFileReader::new(prost::bytes::Bytes::from(self.bytes.clone())).unwrap();
        let mut text = String::new();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            if text.is_empty() {
                let names: Vec<&str> = row.get_column_iter().map(|(name, _)| name.as_str()).collect();
                text = names.join(",") + "\r\n";
            }
            let cells: Vec<String> = row.get_column_iter().map(|(_, field)| cell(field)).collect();
            text += &(cells.join(",") + "\r\n");
        }
        text
    }
}

fn cell(field: &Field) -> String {
    let mut text = String::new();
    let time = |micros: i64| jiff::Timestamp::from_microsecond(micros).unwrap();
    match field {
        Field::Null => Ok(()),
        Field::Str(value) if value.contains([',', '"', '\n']) => {
            write!(text, "\"{}\"", value.replace('"', "\"\""))
        }
        Field::Str(value) => write!(text, "{value}"),
        Field::TimestampMicros(micros) => write!(text, "{:.6}", time(*micros)),
        Field::Date(days) => write!(text, "{}", &time(i64::from(*days) * 86_400_000_000).to_string()[..10]),
        other => write!(text, "{other}"),
    }
    .unwrap();
    text
}

#[tokio::test]
async fn a_month_by_day_has_a_row_for_each_group_in_a_fixed_order() {
    let file = export(&world().await, request(Format::Csv, Detail::Daily)).await;
    let lines: Vec<String> = file.text().split("\r\n").map(str::to_owned).collect();
    assert!(lines[0].starts_with("day,tenant_id,scene,task_type,vendor,model,requests,"), "{}", lines[0]);
    assert_eq!(
        lines[1],
        "2026-10-20,acme,web,headline,openai,gpt-6-luna,1,0,0,1,0,0,100,0,0,0,20,0,250000,false,0,0"
    );
    assert!(lines[2].starts_with("2026-10-20,\"b,\"\"c\"\"\n\",läuft 📰,"), "{}", lines[2]);
    assert!(lines[3].starts_with("2026-10-21,acme,"), "{}", lines[3]);
    assert_eq!((lines.len(), file.cost()), (5, 750_007));
}

#[tokio::test]
async fn both_forms_of_a_file_say_the_same() {
    let world = world().await;
    for (detail, rows) in [(Detail::Daily, 3), (Detail::Request, 3), (Detail::Attempt, 4)] {
        let csv = export(&world, request(Format::Csv, detail)).await;
        let parquet = export(&world, request(Format::Parquet, detail)).await;
        assert_eq!(parquet.parquet(), csv.text(), "{detail:?}");
        assert_eq!((csv.pieces.last().unwrap().rows_done, csv.cost()), (rows, 750_007), "{detail:?}");
    }
    let one = ExportUsageRequest { tenant_id: "acme".to_owned(), ..request(Format::Csv, Detail::Attempt) };
    assert_eq!(export(&world, one).await.cost(), 500_007);
}

/// A closed month has the same bytes for ever: whoever changes one of these sums changes bills that were sent.
#[tokio::test]
async fn the_bytes_of_a_closed_month_never_change() {
    let world = world().await;
    let files = [Format::Csv, Format::Parquet]
        .into_iter()
        .flat_map(|format| [Detail::Daily, Detail::Request, Detail::Attempt].map(|detail| (format, detail)));
    let (mut before, mut sums) = (Vec::new(), Vec::new());
    for (format, detail) in files {
        let file = export(&world, request(format, detail)).await;
        sums.push(hex(&Sha256::digest(&file.bytes)[..8]));
        before.push((format, detail, file.bytes));
    }
    let csv = ["6fe3d5e1c3d0133f", "ac433b589de6377a", "60c3f42e9fdebe03"];
    let parquet = ["c3fca63b59a15920", "f2f809b2cdccdd4b", "dd74dba539a22e49"];
    assert_eq!(sums, [csv, parquet].concat());
    world.store(vec![ago("late", OCTOBER + 5)]).await;
    for (format, detail, bytes) in before {
        assert_eq!(export(&world, request(format, detail)).await.bytes, bytes, "{format:?} {detail:?}");
    }
    let november = ExportUsageRequest {
        month: "2026-11".to_owned(),
        allow_open: true,
        ..request(Format::Csv, Detail::Request)
    };
    assert!(export(&world, november).await.text().contains(",late,"), "it counts when it came");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_long_export_comes_in_pieces_that_say_how_far_it_is() {
    let world = World::new("{}").await;
    for batch in 0..5 {
        let events = (0..5_000).map(|number| ago(&format!("e{batch}-{number}"), OCTOBER + number)).collect();
        world.store(events).await;
    }
    world.dependencies.store.close_months(*NOW).await.unwrap();
    for format in [Format::Csv, Format::Parquet] {
        let file = export(&world, request(format, Detail::Request)).await;
        assert!(file.pieces.len() > 2, "{}", file.pieces.len());
        assert!(file.pieces.is_sorted_by_key(|piece| piece.rows_done));
        assert_eq!((file.pieces[0].rows_total, file.cost()), (25_000, 25_000 * 250_000));
    }
}

#[tokio::test]
async fn an_open_month_is_exported_only_where_that_is_wanted() {
    let world = world().await;
    let mut november =
        ExportUsageRequest { month: "2026-11".to_owned(), ..request(Format::Csv, Detail::Daily) };
    let refused = async |request: &ExportUsageRequest| {
        let answer = world.usage.export_usage(Request::new(request.clone())).await;
        from_status(&answer.map(drop).unwrap_err())
    };
    assert_eq!(refused(&november).await.reason, ErrorReason::MonthOpen);
    november.allow_open = true;
    let file = export(&world, november.clone()).await;
    assert_eq!(
        (file.cost(), file.pieces.last().unwrap().summary.as_ref().unwrap().closed_time),
        (250_000, None)
    );
    november.month = "2026-13".to_owned();
    assert!(refused(&november).await.message.starts_with("month: must be"));
    let failure = refused(&ExportUsageRequest::default()).await;
    assert!(failure.message.starts_with("format: is required"), "{failure}");
}

#[tokio::test]
async fn a_month_without_a_request_is_a_file_without_a_row() {
    let world = world().await;
    for format in [Format::Csv, Format::Parquet] {
        let empty = ExportUsageRequest {
            month: "2026-09".to_owned(),
            allow_open: true,
            ..request(format, Detail::Daily)
        };
        let file = export(&world, empty).await;
        assert_eq!(file.pieces.last().unwrap().rows_total, 0);
        assert!(!file.bytes.is_empty());
    }
}
