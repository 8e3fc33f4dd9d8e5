//! The order that contents and their parts must have.

use super::fields::{check as check_fields, get, list, text};
use crate::problem::Problem;
use serde_json::Value;

const CONTENT_FIELDS: [&str; 2] = ["role", "parts"];
const PART_FIELDS: [&str; 14] = [
    "text",
    "thought",
    "thoughtSignature",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
    "toolCall",
    "toolResponse",
];

/// Checks the conversation; `signs` says whether calls must come back signed.
pub(crate) fn check(contents: &[Value], signs: bool) -> Result<(), Problem> {
    let mut open = 0;
    // The turn that is under way starts after the last words of the user.
    let turn = contents.iter().rposition(speaks).map_or(0, |at| at + 1);
    for (n, content) in contents.iter().enumerate() {
        let at = format!("contents[{n}]");
        check_fields(content, &at, &CONTENT_FIELDS)?;
        if !matches!(text(content, "role"), None | Some("user" | "model")) {
            return Err(Problem::invalid("Please use a valid role: user, model."));
        }
        for (p, part) in list(content, "parts").iter().enumerate() {
            check_fields(part, &format!("{at}.parts[{p}]"), &PART_FIELDS)?;
            check_response(part, &format!("{at}.parts[{p}]"))?;
        }
        open = check_responses(content, open)?;
        if signs && n >= turn {
            check_signature(content, n)?;
        }
    }
    if open > 0 { Err(uneven()) } else { Ok(()) }
}

fn speaks(content: &Value) -> bool {
    text(content, "role") != Some("model")
        && list(content, "parts").iter().any(|part| get(part, "text").is_some())
}

fn check_response(part: &Value, at: &str) -> Result<(), Problem> {
    let Some(response) = get(part, "functionResponse") else { return Ok(()) };
    if get(response, "response").is_some_and(|response| !response.is_object()) {
        let field = format!("{at}.function_response.response");
        let message = format!("Invalid value at '{field}' (type.googleapis.com/google.protobuf.Struct)");
        return Err(Problem::field(field, message));
    }
    Ok(())
}

/// Counts the calls that are open after this content.
fn check_responses(content: &Value, open: usize) -> Result<usize, Problem> {
    let count = |name: &str| list(content, "parts").iter().filter(|part| get(part, name).is_some()).count();
    if count("functionResponse") != open {
        return Err(uneven());
    }
    Ok(count("functionCall"))
}

fn uneven() -> Problem {
    Problem::invalid(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function \
         call turn.",
    )
}

/// The first call of a content must be signed.
fn check_signature(content: &Value, n: usize) -> Result<(), Problem> {
    let Some(part) = list(content, "parts").iter().find(|part| get(part, "functionCall").is_some()) else {
        return Ok(());
    };
    if get(part, "thoughtSignature").is_some() {
        return Ok(());
    }
    let name = get(part, "functionCall").and_then(|call| text(call, "name")).unwrap_or_default();
    Err(Problem::invalid(format!(
        "Function call is missing a thought_signature in functionCall parts. Additional data, function call `{name}`, position {}.",
        n + 1
    )))
}
