//! Cuts the elements of one array out of a JSON document, however its bytes arrive: a document that holds thousands of
//! results is never in memory whole.

use signalbox_types::{ErrorReason, Failure};
use std::collections::VecDeque;

/// Longest element taken from a vendor, and longest document without its elements.
const LIMIT: usize = 16 << 20;

/// Elements of the first array under a key that is not empty, and the document without such arrays' elements.
#[derive(Debug)]
pub struct ElementFrames {
    key: &'static str,
    text: Text,
    /// The text that began last, outside of elements; as long as the key at most.
    word: Vec<u8>,
    /// That text is the key, and nothing but its array has come since.
    expected: bool,
    array: Option<Array>,
    /// Whether elements have come out of an array that has ended.
    had: bool,
    ready: VecDeque<Vec<u8>>,
    rest: Vec<u8>,
}

/// The array that is being read.
#[derive(Debug, Default)]
struct Array {
    depth: usize,
    element: Vec<u8>,
    elements: usize,
}

/// Where in a text the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Outside,
    Inside,
    Escaped,
}

impl Text {
    fn then(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Outside, b'"') | (Self::Escaped, _) => Self::Inside,
            (Self::Inside, b'"') | (Self::Outside, _) => Self::Outside,
            (Self::Inside, b'\\') => Self::Escaped,
            (Self::Inside, _) => Self::Inside,
        }
    }
}

impl ElementFrames {
    /// Looks for arrays under `key`.
    pub fn new(key: &'static str) -> Self {
        Self {
            key,
            text: Text::Outside,
            word: Vec::new(),
            expected: false,
            array: None,
            had: false,
            ready: VecDeque::new(),
            rest: Vec::new(),
        }
    }

    /// The key.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        for &byte in bytes {
            if self.array.is_some() {
                self.within(byte);
            } else {
                self.around(byte);
            }
            let element = self.array.as_ref().map_or(0, |array| array.element.len());
            if element.max(self.rest.len()) > LIMIT {
                return Err(too_long());
            }
        }
        Ok(())
    }

    /// The next whole element.
    pub fn next_element(&mut self) -> Option<Vec<u8>> {
        self.ready.pop_front()
    }

    /// The document without the elements. `Err` where it ended within them.
    pub fn into_rest(self) -> Result<Vec<u8>, Failure> {
        if self.array.is_some() || self.text != Text::Outside {
            let message = "the vendor's answer ended in the middle";
            return Err(Failure::new(ErrorReason::VendorBadResponse, message));
        }
        Ok(self.rest)
    }

    fn around(&mut self, byte: u8) {
        self.rest.push(byte);
        let before = self.text;
        self.text = before.then(byte);
        match (before, self.text) {
            (Text::Outside, Text::Inside) => {
                self.word.clear();
                self.expected = false;
            }
            (Text::Inside, Text::Outside) => self.expected = self.word == self.key.as_bytes(),
            (Text::Outside, _) => self.around_text(byte),
            _ if self.word.len() <= self.key.len() => self.word.push(byte),
            _ => {}
        }
    }

    fn around_text(&mut self, byte: u8) {
        match byte {
            b'[' if self.expected => self.array = Some(Array::default()),
            b':' | b' ' | b'\t' | b'\r' | b'\n' => return,
            _ => {}
        }
        self.expected = false;
    }

    fn within(&mut self, byte: u8) {
        let Some(array) = &mut self.array else { return };
        let outside = self.text == Text::Outside;
        self.text = self.text.then(byte);
        if outside && array.depth == 0 && matches!(byte, b',' | b']') {
            let element = std::mem::take(&mut array.element).trim_ascii().to_vec();
            if !element.is_empty() {
                array.elements += 1;
                if !self.had {
                    self.ready.push_back(element);
                }
            }
            if byte == b']' {
                self.had |= array.elements > 0;
                self.array = None;
                self.rest.push(byte);
            }
            return;
        }
        match byte {
            b'{' | b'[' if outside => array.depth += 1,
            b'}' | b']' if outside => array.depth = array.depth.saturating_sub(1),
            _ => {}
        }
        array.element.push(byte);
    }
}

fn too_long() -> Failure {
    let message = format!("the vendor's answer has an element of more than {} MiB", LIMIT >> 20);
    Failure::new(ErrorReason::VendorBadResponse, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Value>, Value) {
        let mut frames = ElementFrames::new("results");
        for piece in pieces {
            frames.push(piece).unwrap();
        }
        let elements = std::iter::from_fn(|| frames.next_element());
        let elements = elements.map(|element| serde_json::from_slice(&element).unwrap()).collect();
        (elements, serde_json::from_slice(&frames.into_rest().unwrap()).unwrap())
    }

    #[test]
    fn elements_come_out_one_by_one_and_the_rest_is_a_document() {
        let document = br#"{"a":"results","results" : [ {"results":[1,2]} , [3], "x],\"" ,4],"token":"t"}"#;
        let (elements, rest) = read([&document[..]]);
        assert_eq!(elements, [json!({"results":[1,2]}), json!([3]), json!("x],\""), json!(4)]);
        assert_eq!(rest, json!({"a":"results","results":[],"token":"t"}));
    }

    #[test]
    fn an_object_under_the_key_is_looked_into_and_a_second_array_is_left_out() {
        let document = br#"{"m":{"results":{"results":[1]}},"r":{"results":{"results":[1]}}}"#;
        let (elements, rest) = read([&document[..]]);
        assert_eq!(elements, [json!(1)]);
        assert_eq!(rest, json!({"m":{"results":{"results":[]}},"r":{"results":{"results":[]}}}));
    }

    #[test]
    fn a_document_that_ends_within_its_elements_is_broken() {
        for cut in [&br#"{"results":[{"a":1}"#[..], br#"{"results":["#, br#"{"resu"#] {
            let mut frames = ElementFrames::new("results");
            frames.push(cut).unwrap();
            assert!(frames.into_rest().is_err());
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[a\\]\\[{},:\"\\\\ ]{0,8}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("(a|results)", inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn elements_are_those_of_the_array_however_the_bytes_are_cut(
            elements in prop::collection::vec(any_json(), 1..5),
            size in 1usize..40,
        ) {
            let document = json!({"results": elements, "z": 1}).to_string();
            let (read, rest) = read(document.as_bytes().chunks(size));
            prop_assert_eq!(read, elements);
            prop_assert_eq!(rest, json!({"results": [], "z": 1}));
        }
    }
}
