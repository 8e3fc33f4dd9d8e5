//! What is told of a system that is up.

use crate::{Folder, Kind, Part, Purpose, Stack, TENANT};
use std::{
    fmt,
    path::{Path, PathBuf},
};

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for kind in Kind::ALL {
            let listens: Vec<String> = kind.parts().map(|part| listens(self, part)).collect();
            writeln!(f, "  {:<11} {}", kind.name(), listens.join(", "))?;
        }
        let folder = shown(self.folder());
        writeln!(f, "\n  {}/logs    what each process says", folder.display())?;
        writeln!(f, "  {}/run     their numbers", folder.display())?;
        writeln!(
            f,
            "  {}/env     for a shell: programs, server, the key of tenant {TENANT}",
            folder.display()
        )?;
        writeln!(f, "\nTry it: a call, a stream, what it cost.\n")?;
        f.write_str(&commands(self).map(|command| format!("  {command}")).join("\n"))?;
        f.write_str("\n\nWhat a call cost is there within seconds: its account goes over NATS to ClickHouse.")
    }
}

impl Stack {
    /// That a system is not where somebody asked for it, if so.
    pub fn elsewhere(&self, wanted: Option<u16>) -> Option<String> {
        let (base, folder) = (self.ports().base(), shown(self.folder()));
        let wanted = wanted.filter(|wanted| *wanted != 0 && *wanted != base)?;
        Some(format!(
            "Its ports begin at {base}, not at {wanted}: a system keeps the ports it was made with. End it by `make \
             down` first, or give another --folder than {}.",
            folder.display()
        ))
    }
}

/// Where a process listens: for clients, for other roles, for those who watch it.
fn listens(stack: &Stack, part: Part) -> String {
    let ports = stack.ports();
    let address = ports.address(part, Purpose::Clients);
    let (internal, metrics) = (ports.of(part, Purpose::Internal), ports.of(part, Purpose::Metrics));
    match (part.kind.is_role(), stack.mtls()) {
        (true, true) => format!("{address} (roles {internal}, metrics {metrics})"),
        (true, false) => format!("{address} (metrics {metrics})"),
        (false, _) => address.to_string(),
    }
}

/// Commands that work as they are.
fn commands(stack: &Stack) -> [String; 3] {
    let env = shown(stack.folder()).join("env");
    // A dot without a slash would be looked for in PATH.
    let env = if env.is_relative() { PathBuf::from(".").join(env) } else { env };
    let at = |kind| stack.ports().address(Part { kind, number: 1 }, Purpose::Clients);
    let (env, router, ingest) = (quoted(&env), at(Kind::Router), at(Kind::Ingest));
    let request = r#"{"model": "fast", "messages": [{"role": "ROLE_USER", "content": [{"text": "Why is the sky blue?"}]}]}"#;
    [
        format!(
            r#". {env}; grpcurl -plaintext -H "authorization: Bearer $SIGNALBOX_API_KEY" -d '{request}' {router} signalbox.v1.RouterService/Generate"#
        ),
        format!(r#". {env}; signalbox chat "Say hello in five languages""#),
        format!(". {env}; signalbox usage --server http://{ingest} query --by model"),
    ]
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The folder, from where we are if it is below.
pub(crate) fn shown(folder: &Folder) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    folder.path().strip_prefix(here).unwrap_or_else(|_| folder.path()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use std::path::Path;

    #[test]
    fn a_folder_of_any_name_can_be_copied_into_a_shell() {
        for (path, word) in [
            ("./.local/env", "./.local/env"),
            ("./sp ace/env", "'./sp ace/env'"),
            ("./a'b/$HOME/env", r"'./a'\''b/$HOME/env'"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }
}
