//! Apache Parquet. What decides the bytes is set here and not left to defaults, so that a closed month has the same for
//! ever; a test holds them.

use super::cell::{Cell, Column, Kind};
use parquet::{
    basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type},
    errors::{ParquetError, Result},
    file::{
        properties::{EnabledStatistics, WriterProperties, WriterVersion},
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};
use signalbox_types::{ErrorReason, Failure};
use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Mutex, PoisonError},
};

/// Rows that are written together: more make smaller files, and wait in memory.
const GROUP: usize = 20_000;

/// A file that is being written.
pub(super) struct Parquet {
    columns: Vec<Values>,
    rows: usize,
    ready: Ready,
    /// `None` where it could not be begun.
    writer: Result<SerializedFileWriter<Ready>>,
}

impl Parquet {
    pub(super) fn new<T>(columns: &[Column<T>]) -> Self {
        let ready = Ready::default();
        let writer = schema(columns).and_then(|schema| {
            SerializedFileWriter::new(ready.clone(), Arc::new(schema), Arc::new(properties()))
        });
        Self {
            columns: columns.iter().map(|column| Values::new(column.kind)).collect(),
            rows: 0,
            ready,
            writer,
        }
    }

    /// Returns how many bytes are ready.
    pub(super) fn row<'r>(
        &mut self,
        cells: impl Iterator<Item = Cell<'r>>,
    ) -> std::result::Result<usize, Failure> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.rows += 1;
        if self.rows == GROUP {
            self.end_group().map_err(told)?;
        }
        Ok(self.ready.len())
    }

    fn end_group(&mut self) -> Result<()> {
        if mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let writer = self.writer.as_mut().map_err(|error| ParquetError::General(error.to_string()))?;
        let mut group = writer.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        group.close().map(drop)
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        self.ready.take()
    }

    pub(super) fn finish(mut self) -> std::result::Result<Vec<u8>, Failure> {
        self.end_group().map_err(told)?;
        self.writer.map_err(told)?.close().map_err(told)?;
        Ok(self.ready.take())
    }
}

fn told(error: ParquetError) -> Failure {
    Failure::new(ErrorReason::Internal, format!("the file cannot be written: {error}"))
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by("signalbox".to_owned())
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_size_limit(1 << 20)
        .set_dictionary_page_size_limit(1 << 20)
        .set_max_row_group_row_count(Some(GROUP))
        .build()
}

fn schema<T>(columns: &[Column<T>]) -> Result<Type> {
    let fields: Result<Vec<_>> = columns.iter().map(|column| field(column.name, column.kind)).collect();
    Type::group_type_builder("usage").with_fields(fields?).build()
}

fn field(name: &str, kind: Kind) -> Result<Arc<Type>> {
    let (physical, logical) = match kind {
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Number | Kind::Micros => (Physical::INT64, None),
        Kind::Flag => (Physical::BOOLEAN, None),
        Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        Kind::Day => (Physical::INT32, Some(LogicalType::Date)),
    };
    let repetition = match kind {
        Kind::Micros | Kind::Time => Repetition::OPTIONAL,
        _ => Repetition::REQUIRED,
    };
    let builder = Type::primitive_type_builder(name, physical);
    builder.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
}

/// The cells of a column that wait for the end of their group.
enum Values {
    Texts(Vec<ByteArray>),
    Numbers(Vec<i64>),
    /// With a level for each row: 1 where it has one.
    Perhaps(Vec<i64>, Vec<i16>),
    Flags(Vec<bool>),
    Days(Vec<i32>),
}

impl Values {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Texts(Vec::new()),
            Kind::Number => Self::Numbers(Vec::new()),
            Kind::Micros | Kind::Time => Self::Perhaps(Vec::new(), Vec::new()),
            Kind::Flag => Self::Flags(Vec::new()),
            Kind::Day => Self::Days(Vec::new()),
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Texts(values), Cell::Text(text)) => values.push(text.as_bytes().to_vec().into()),
            (Self::Numbers(values), Cell::Number(number)) => values.push(number),
            (Self::Perhaps(values, levels), Cell::Micros(value) | Cell::Time(value)) => {
                values.extend(value);
                levels.push(i16::from(value.is_some()));
            }
            (Self::Flags(values), Cell::Flag(flag)) => values.push(flag),
            (Self::Days(values), Cell::Day(days)) => values.push(days),
            // A column's kind and its cells are said side by side; the tests write every one.
            (_, cell) => debug_assert!(false, "a cell of another kind: {cell:?}"),
        }
    }

    fn write<W: Write + Send>(&mut self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()> {
        match self {
            Self::Texts(values) => column::<ByteArrayType, _>(group, &mem::take(values), None),
            Self::Numbers(values) => column::<Int64Type, _>(group, &mem::take(values), None),
            Self::Perhaps(values, levels) => {
                column::<Int64Type, _>(group, &mem::take(values), Some(&mem::take(levels)))
            }
            Self::Flags(values) => column::<BoolType, _>(group, &mem::take(values), None),
            Self::Days(values) => column::<Int32Type, _>(group, &mem::take(values), None),
        }
    }
}

fn column<D: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[D::T],
    levels: Option<&[i16]>,
) -> Result<()> {
    let missing = || ParquetError::General("there are more columns than the schema has".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<D>().write_batch(values, levels, None)?;
    column.close()
}

/// Bytes of the file that wait to be taken.
#[derive(Clone, Default)]
struct Ready(Arc<Mutex<Vec<u8>>>);

impl Ready {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Write for Ready {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
