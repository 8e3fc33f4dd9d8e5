//! JSON laid out for reading, with nothing else changed: parsing and writing it again could reorder keys and round
//! numbers, which is what somebody who compares requests looks for.

/// Valid JSON with line breaks and two spaces a level.
pub(super) fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut rest = json.trim_start();
    while let Some(next) = rest.chars().next() {
        let token = rest.get(..token_length(rest, next)).unwrap_or(rest);
        rest = rest.get(token.len()..).unwrap_or_default().trim_start();
        match next {
            '{' | '[' if !rest.starts_with(['}', ']']) => {
                depth += 1;
                out.push(next);
                new_line(&mut out, depth);
            }
            '}' | ']' if !out.ends_with(['{', '[']) => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(next);
            }
            ',' => {
                out.push(next);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push_str(token),
        }
    }
    out
}

/// Bytes of the token at the start of `rest`: a text with its quotes, a number or word, or one sign.
fn token_length(rest: &str, first: char) -> usize {
    match first {
        '"' => text_length(rest),
        '{' | '}' | '[' | ']' | ',' | ':' => 1,
        _ => {
            rest.find(|letter: char| ",:]}".contains(letter) || letter.is_whitespace()).unwrap_or(rest.len())
        }
    }
}

fn text_length(rest: &str) -> usize {
    let mut escaped = true; // The opening quote ends nothing.
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_numbers_and_texts_stay_as_they_were() {
        let json = r#"{"z":1.10,"a":[{},[],"{\"b\":[1,2]}\\"],"é":{"n":-1e400,"t":true}}"#;
        let expected = r#"{
  "z": 1.10,
  "a": [
    {},
    [],
    "{\"b\":[1,2]}\\"
  ],
  "é": {
    "n": -1e400,
    "t": true
  }
}"#;
        assert_eq!(indented(json), expected);
        assert_eq!(indented(expected), expected);
    }

    #[test]
    fn a_lone_value_stays_alone() {
        assert_eq!(indented(" \"a b\" "), "\"a b\"");
        assert_eq!(indented("12"), "12");
    }
}
