use super::*;
use signalbox_pricing::Day;
use std::path::Path;

mod access;
mod alerts;
mod batch;
mod cache;
mod content;
mod errors;
mod health;
mod merging;
mod mistakes;
mod properties;
mod published;
mod reloads;
mod routing;
mod slow_stream;
mod tasks;
mod tenants;
mod usage;

fn today() -> Day {
    Day::parse("2026-11-29").unwrap()
}

fn load_with(text: &str, env: &Environment) -> Result<Loaded, ConfigErrors> {
    load_text(text, Some(Path::new("signalbox.yaml")), env, today())
}

fn good(text: &str) -> Loaded {
    load_with(text, &Environment::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The problems of a bad file, one a line.
fn bad(text: &str) -> String {
    load_with(text, &Environment::default()).expect_err("the file should be refused").to_string()
}

fn warnings(text: &str) -> String {
    good(text).warning_lines().collect::<Vec<_>>().join("\n")
}
