//! Whose fault a failure is.

use clickhouse::error::Error;
use signalbox_ports::usage_store::StoreFailure;

/// Errors of the server that are surely about what was sent, and not about the state the server is in: types, columns,
/// syntax, values. All others are worth another try, for a batch that is refused is set aside, and an outage or a
/// wrong password must never set an account aside.
const ABOUT_THE_REQUEST: [u32; 20] =
    [6, 10, 16, 26, 27, 36, 38, 41, 43, 44, 47, 53, 62, 69, 70, 72, 117, 131, 349, 456];
/// Longest text of an error that is passed on.
const LONGEST: usize = 500;

pub(crate) fn failure(error: &Error) -> StoreFailure {
    let about_the_request = match error {
        Error::BadResponse(text) => code(text).is_some_and(|code| ABOUT_THE_REQUEST.contains(&code)),
        // A connection that breaks in the middle looks like too little data.
        Error::Network(_) | Error::TimedOut | Error::Decompression(_) | Error::NotEnoughData => false,
        Error::Other(_) => false,
        _ => true,
    };
    let text = text(error);
    if about_the_request { StoreFailure::Refused(text) } else { StoreFailure::Away(text) }
}

pub(crate) fn too_slow() -> StoreFailure {
    StoreFailure::Away("it did not answer in time".to_owned())
}

/// The error code, as in `Code: 60. DB::Exception: ...`.
pub(crate) fn code(text: &str) -> Option<u32> {
    let digits = text.split_once("Code: ")?.1;
    let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// What happened, with what lies behind it, as `connection refused`.
fn text(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error).and_then(std::error::Error::source);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    if let Some((cut, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(cut);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> StoreFailure {
        failure(&Error::BadResponse(text.to_owned()))
    }

    #[test]
    fn overload_and_a_wrong_password_are_worth_another_try() {
        for text in [
            "Code: 252. DB::Exception: Too many parts. (TOO_MANY_PARTS)",
            "Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED)",
            "Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)",
            "Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)",
            "502 Bad Gateway",
        ] {
            assert!(matches!(of(text), StoreFailure::Away(_)), "{text}");
        }
        assert!(matches!(failure(&Error::TimedOut), StoreFailure::Away(_)));
    }

    #[test]
    fn what_does_not_fit_the_table_is_refused() {
        assert!(matches!(of("Code: 53. DB::Exception: Type mismatch."), StoreFailure::Refused(_)));
        assert!(matches!(failure(&Error::SchemaMismatch(String::new())), StoreFailure::Refused(_)));
    }
}
