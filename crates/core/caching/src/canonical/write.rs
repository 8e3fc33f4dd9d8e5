//! Bytes from which what was written could be read again: no two things are written alike.

/// Gathers bytes.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A choice among fewer than 256.
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    pub(super) fn number(&mut self, number: u64) {
        self.raw(&number.to_be_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A float by its bits. Zero has no sign, and what is not a number is one thing.
    pub(super) fn float(&mut self, float: f64) {
        let one_of_its_kind = if float == 0.0 {
            0.0
        } else if float.is_nan() {
            f64::NAN
        } else {
            float
        };
        self.number(one_of_its_kind.to_bits());
    }

    pub(super) fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// A list, its length before its items.
    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let at = self.0.len();
        self.number(0);
        let mut count = 0_u64;
        for item in items {
            write(self, item);
            count += 1;
        }
        self.0[at..at + 8].copy_from_slice(&count.to_be_bytes());
    }
}
