//! Where built programs and installed tools are.

use std::path::{Path, PathBuf};

/// The workspace's root.
pub fn workspace() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(3).unwrap_or(crate_folder)
}

/// A program of this workspace, as it was built last.
///
/// Cargo builds programs for the tests of their own crate only, so whoever runs these tests builds them before.
pub fn built(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    // target/PROFILE/deps/TEST or target/PROFILE/PROGRAM
    let beside = own.parent().unwrap_or(&own);
    let folder = if beside.ends_with("deps") { beside.parent().unwrap_or(beside) } else { beside };
    let program = folder.join(name);
    assert!(
        program.is_file(),
        "{} is missing: run `cargo build --bins` (`make test` does) before these tests",
        program.display()
    );
    program
}

/// A program that `tools/install.sh` brings.
pub fn tool(name: &str) -> PathBuf {
    let program = workspace().join(".tools/bin").join(name);
    assert!(program.is_file(), "{} is missing: run `make test-tools`", program.display());
    program
}
