//! The workspace's own chores, run as `cargo xtask <command>`.

use std::path::Path;
use std::process::ExitCode;

mod files;
mod metadata;
mod proto;
mod rings;
#[cfg(test)]
mod testing;

/// What every chore returns: nothing, or why it failed, in words for the person who ran it.
type Outcome = Result<(), Box<dyn std::error::Error>>;

const USAGE: &str = "\
usage: cargo xtask <command>

  proto           generate crates/api/src/generated from proto/
  proto --check   fail if the committed code differs from what proto/ generates
  rings           check which crate may use which, and that the core stays pure
  files           list source files that have grown too long
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args, workspace_root()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("xtask: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String], root: &Path) -> Outcome {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["proto"] => proto::write(root),
        ["proto", "--check"] => proto::check(root),
        ["rings"] => rings::run(root),
        ["files"] => files::run(root),
        [] => Err(USAGE.into()),
        _ => Err(format!("unknown command {:?}\n\n{USAGE}", words.join(" ")).into()),
    }
}

/// The workspace this binary was built from: `crates/dev/xtask` is three levels below it.
fn workspace_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here)
}

#[expect(clippy::print_stderr, reason = "a command line tool tells its user what it found")]
fn say(line: &str) {
    eprintln!("{line}");
}
