//! Generation and drift, on a contract of a few lines in a folder of its own.

use std::fs;
use std::path::Path;

use super::{GENERATED_DIR, check, write};

const CONTRACT: &str = r#"
syntax = "proto3";
package signalbox.v1;
// Greets whoever asks.
service GreeterService { rpc Greet(GreetRequest) returns (GreetResponse); }
message GreetRequest { bytes picture = 1; }
message GreetResponse { string words = 1; }
"#;

fn contract(text: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join(".rustfmt.toml"), "max_width = 110\n").unwrap();
    change(root.path(), text);
    root
}

fn change(root: &Path, text: &str) {
    let dir = root.join("proto/signalbox/v1");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("greeter.proto"), text).unwrap();
}

fn failure(root: &Path) -> String {
    check(root).unwrap_err().to_string()
}

#[test]
fn fresh_code_passes_the_check() {
    let root = contract(CONTRACT);
    write(root.path()).unwrap();
    check(root.path()).unwrap();
}

#[test]
fn generated_code_is_marked_and_keeps_large_fields_shared() {
    let root = contract(CONTRACT);
    write(root.path()).unwrap();
    let code = fs::read_to_string(root.path().join(GENERATED_DIR).join("signalbox.v1.rs")).unwrap();
    assert!(code.starts_with("// @generated"));
    assert!(code.contains("pub picture: ::prost::bytes::Bytes"), "{code}");
}

#[test]
fn the_descriptor_set_carries_the_comments() {
    let root = contract(CONTRACT);
    write(root.path()).unwrap();
    let set = fs::read(root.path().join(GENERATED_DIR).join("descriptor.bin")).unwrap();
    assert!(String::from_utf8_lossy(&set).contains("Greets whoever asks."));
}

#[test]
fn a_changed_contract_fails_the_check_and_says_what_to_run() {
    let root = contract(CONTRACT);
    write(root.path()).unwrap();
    change(root.path(), &CONTRACT.replace("words", "answer"));
    let message = failure(root.path());
    assert!(message.contains("descriptor.bin, signalbox.v1.rs"), "{message}");
    assert!(message.contains("cargo xtask proto"), "{message}");
}

#[test]
fn a_left_over_file_fails_the_check_and_is_removed_by_generating() {
    let root = contract(CONTRACT);
    write(root.path()).unwrap();
    fs::write(root.path().join(GENERATED_DIR).join("signalbox.v0.rs"), "").unwrap();
    assert!(failure(root.path()).contains("(signalbox.v0.rs)"));
    write(root.path()).unwrap();
    check(root.path()).unwrap();
}

#[test]
fn code_never_generated_fails_the_check() {
    assert!(failure(contract(CONTRACT).path()).contains("signalbox.v1.rs"));
}

#[test]
fn a_broken_contract_is_named_with_its_place() {
    let root = contract("syntax = \"proto3\";\nmessage Broken { strin name = 1; }\n");
    let message = write(root.path()).unwrap_err().to_string();
    assert!(message.contains("greeter.proto:2"), "{message}");
}
