//! A file of either form, row by row.

use super::{cell::Column, csv::Csv, parquet::Parquet};
use sha2::{Digest, Sha256};
use signalbox_api::v1::export_usage_request::Format;
use signalbox_types::Failure;

/// Bytes that are worth a piece of their own.
const PIECE: usize = 256 << 10;

/// A file that is being written.
pub(super) struct Sheet<T: 'static> {
    columns: &'static [Column<T>],
    form: Form,
    hash: Sha256,
    rows: u64,
}

enum Form {
    Csv(Csv),
    Parquet(Box<Parquet>),
}

impl<T> Sheet<T> {
    pub(super) fn new(format: Format, columns: &'static [Column<T>]) -> Self {
        let form = match format {
            Format::Parquet => Form::Parquet(Box::new(Parquet::new(columns))),
            Format::Csv | Format::Unspecified => Form::Csv(Csv::new(columns)),
        };
        Self { columns, form, hash: Sha256::new(), rows: 0 }
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Writes a row; whether a piece of the file is ready.
    pub(super) fn row(&mut self, row: &T) -> Result<bool, Failure> {
        let cells = self.columns.iter().map(|column| (column.cell)(row));
        self.rows += 1;
        let ready = match &mut self.form {
            Form::Csv(csv) => csv.row(cells),
            Form::Parquet(parquet) => parquet.row(cells)?,
        };
        Ok(ready >= PIECE)
    }

    /// What is ready of the file.
    pub(super) fn take(&mut self) -> Vec<u8> {
        let piece = match &mut self.form {
            Form::Csv(csv) => csv.take(),
            Form::Parquet(parquet) => parquet.take(),
        };
        self.hash.update(&piece);
        piece
    }

    /// The rest of the file, and the SHA-256 of the whole.
    pub(super) fn finish(mut self) -> Result<(Vec<u8>, Vec<u8>), Failure> {
        let rest = match self.form {
            Form::Csv(mut csv) => csv.take(),
            Form::Parquet(parquet) => parquet.finish()?,
        };
        self.hash.update(&rest);
        Ok((rest, self.hash.finalize().to_vec()))
    }
}
