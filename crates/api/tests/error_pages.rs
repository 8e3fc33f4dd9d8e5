//! Every error reason has a page for operators, and the page tells what the code does.

use signalbox_api::status::code;
use signalbox_types::{ErrorReason, Fault};
use std::{fs, path::PathBuf};

#[test]
fn every_reason_has_a_page_that_tells_its_code_fault_and_retries() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/errors");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    for reason in ErrorReason::ALL {
        let name = reason.name();
        let page = fs::read_to_string(folder.join(format!("{name}.md")))
            .unwrap_or_else(|_| panic!("deploy/errors/{name}.md is missing"));
        let row = row(reason);
        assert!(page.contains(&row), "{name}.md should have the row\n{row}");
        assert!(index.contains(&format!("[{name}]({name}.md)")), "README.md does not list {name}");
    }
}

fn row(reason: ErrorReason) -> String {
    let fault = match reason.fault() {
        Fault::Caller => "the caller",
        Fault::Signalbox => "Signalbox",
        Fault::Vendor => "the vendor",
    };
    let retried = if reason.retry_same_vendor() { "once" } else { "no" };
    let moved = if reason.fail_over() { "yes" } else { "no" };
    format!("| `{}` | {fault} | {retried} | {moved} |", upper_snake(&format!("{:?}", code(reason))))
}

/// `InvalidArgument` to `INVALID_ARGUMENT`.
fn upper_snake(camel: &str) -> String {
    let mut upper = String::new();
    for (index, character) in camel.chars().enumerate() {
        if index > 0 && character.is_uppercase() {
            upper.push('_');
        }
        upper.extend(character.to_uppercase());
    }
    upper
}
