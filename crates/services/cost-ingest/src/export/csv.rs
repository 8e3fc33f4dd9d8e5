//! Comma-separated values as RFC 4180 has them, in UTF-8, with a header line.

use super::cell::{Cell, Column};
use std::{fmt::Write, mem};

/// Rows that wait to be taken.
pub(super) struct Csv(String);

impl Csv {
    pub(super) fn new<T>(columns: &[Column<T>]) -> Self {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        Self(names.join(",") + "\r\n")
    }

    /// Returns how many bytes wait.
    pub(super) fn row<'r>(&mut self, cells: impl Iterator<Item = Cell<'r>>) -> usize {
        for (index, cell) in cells.enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            self.cell(&cell);
        }
        self.0.push_str("\r\n");
        self.0.len()
    }

    fn cell(&mut self, cell: &Cell<'_>) {
        let _infallible = match cell {
            Cell::Text(text) => {
                self.text(text);
                Ok(())
            }
            Cell::Number(number) | Cell::Micros(Some(number)) => write!(self.0, "{number}"),
            Cell::Flag(flag) => write!(self.0, "{flag}"),
            Cell::Time(Some(micros)) => match jiff::Timestamp::from_microsecond(*micros) {
                Ok(time) => write!(self.0, "{time:.6}"),
                Err(_) => Ok(()),
            },
            Cell::Day(days) => match jiff::Timestamp::from_second(i64::from(*days) * 24 * 60 * 60) {
                Ok(time) => write!(self.0, "{}", time.to_zoned(jiff::tz::TimeZone::UTC).date()),
                Err(_) => Ok(()),
            },
            Cell::Micros(None) | Cell::Time(None) => Ok(()),
        };
    }

    fn text(&mut self, text: &str) {
        if !text.contains([',', '"', '\n', '\r']) {
            return self.0.push_str(text);
        }
        self.0.push('"');
        self.0.push_str(&text.replace('"', "\"\""));
        self.0.push('"');
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        mem::take(&mut self.0).into_bytes()
    }
}
