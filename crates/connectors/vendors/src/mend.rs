//! JSON that ended too early, closed where it ended, so that what had come of it can be read.

/// The document, closed: a text that broke off ends there, and a field that had no whole value is left out. What comes
/// after its end is left out, too. `None` where it begins like no document.
pub(crate) fn closed(body: &[u8]) -> Option<Vec<u8>> {
    if !matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return None;
    }
    let mut scan = Scan::default();
    for (at, byte) in body.iter().enumerate() {
        if scan.read(at, *byte) {
            break;
        }
    }
    Some(scan.close(body))
}

/// Where reading is.
#[derive(Debug, Default)]
struct Scan {
    /// What closes the containers that are open.
    closers: Vec<u8>,
    /// Up to here all is whole, but for the containers.
    whole: usize,
    /// In a text.
    text: Option<Text>,
    /// In a number or a word.
    in_word: bool,
    /// The next text is a field's name.
    name_next: bool,
}

#[derive(Debug)]
struct Text {
    is_name: bool,
    /// Up to here no escape is cut.
    whole: usize,
    /// Bytes of an escape that are still to come.
    escape: usize,
}

impl Scan {
    /// Reads a byte; whether the document ends with it.
    fn read(&mut self, at: usize, byte: u8) -> bool {
        if self.text.is_some() {
            self.read_text(at, byte);
            return false;
        }
        if self.in_word && !is_of_word(byte) {
            (self.in_word, self.whole) = (false, at);
        }
        match byte {
            b'{' | b'[' => {
                self.closers.push(if byte == b'{' { b'}' } else { b']' });
                (self.whole, self.name_next) = (at + 1, byte == b'{');
            }
            b'}' | b']' => {
                self.closers.pop();
                self.whole = at + 1;
                return self.closers.is_empty();
            }
            b'"' => self.text = Some(Text { is_name: self.name_next, whole: at + 1, escape: 0 }),
            b',' => self.name_next = self.closers.last() == Some(&b'}'),
            b':' => self.name_next = false,
            byte => self.in_word |= is_of_word(byte),
        }
        false
    }

    fn read_text(&mut self, at: usize, byte: u8) {
        let Some(text) = &mut self.text else { return };
        match byte {
            b'u' if text.escape == 1 => text.escape = 4,
            _ if text.escape > 0 => text.escape -= 1,
            b'\\' => text.escape = 1,
            b'"' => {
                if !text.is_name {
                    self.whole = at + 1;
                }
                self.text = None;
                return;
            }
            _ => {}
        }
        if text.escape == 0 {
            text.whole = at + 1;
        }
    }

    fn close(self, body: &[u8]) -> Vec<u8> {
        let text = self.text.filter(|text| !text.is_name);
        let upto = body.get(..text.as_ref().map_or(self.whole, |text| text.whole)).unwrap_or(body);
        // A character that was cut is left out.
        let cut = std::str::from_utf8(upto).err().filter(|error| error.error_len().is_none());
        let upto = cut.and_then(|cut| upto.get(..cut.valid_up_to())).unwrap_or(upto);
        let mut closed = upto.to_vec();
        closed.extend(text.is_some().then_some(b'"'));
        closed.extend(self.closers.into_iter().rev());
        closed
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const WHOLE: &str =
        r#"{"a": [1, {"b\"": "t\u00e9x\\t ü"}, null], "c": {"d": 14.5e3, "e": true}, "f": "end"}"#;

    #[test]
    fn wherever_a_document_was_cut_what_is_left_can_be_read() {
        for end in 1..=WHOLE.len() {
            let cut = &WHOLE.as_bytes()[..end];
            let closed = closed(cut).unwrap();
            let read = serde_json::from_slice::<Value>(&closed);
            let (cut, closed) = (String::from_utf8_lossy(cut), String::from_utf8_lossy(&closed));
            assert!(read.is_ok(), "{cut} became {closed}");
        }
        assert_eq!(closed(WHOLE.as_bytes()).unwrap(), WHOLE.as_bytes());
    }

    #[test]
    fn values_that_are_whole_stay_and_others_go_but_for_the_beginning_of_a_text() {
        let cases = [
            (r#"{"n":14"#, "{}"),
            (r#"{"n":14 "#, r#"{"n":14}"#),
            (r#"{"n":14,"m"#, r#"{"n":14}"#),
            (r#"{"n":14,"m":"#, r#"{"n":14}"#),
            (r#"{"t":"half a sen"#, r#"{"t":"half a sen"}"#),
            (r#"{"t":"a\u00"#, r#"{"t":"a"}"#),
            (r#"{"a":{"t":"x"} "#, r#"{"a":{"t":"x"}}"#),
            (r#"{"t":"x"} and more"#, r#"{"t":"x"}"#),
            ("[", "[]"),
        ];
        for (cut, expected) in cases {
            assert_eq!(String::from_utf8(closed(cut.as_bytes()).unwrap()).unwrap(), expected, "{cut}");
        }
        for other in ["", "  ", "<html>", "data: {}"] {
            assert_eq!(closed(other.as_bytes()), None, "{other}");
        }
    }
}
