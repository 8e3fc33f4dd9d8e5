//! `signalbox check-config`: what is wrong with a configuration file, or what would be served with it.

use super::{CommandError, environment, print, today};
use signalbox_kit::config::{self, ConfigErrors, Environment, Loaded};
use signalbox_pricing::{Day, ModelStatus};
use std::path::PathBuf;

const HELP: &str = "\
Keys are looked for in this environment and in the files that the configuration names; none is shown.";

/// Which file to check.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct CheckConfigArgs {
    /// The configuration file
    file: PathBuf,
}

/// Checks the file, and prints a summary where it is good.
pub(crate) fn run(args: CheckConfigArgs) -> Result<(), CommandError> {
    let (env, day) = (environment(), today());
    let loaded = config::load(Some(&args.file), &env, day)
        .map_err(|errors| refused(&args.file.display().to_string(), &errors))?;
    print(&summary(&args.file.display().to_string(), &loaded, &env, day))
}

/// Every problem, in the form that editors and CI systems make links of.
fn refused(file: &str, errors: &ConfigErrors) -> CommandError {
    let count = counted(errors.problems.len(), "problem");
    CommandError::new(format!("{file} is not good: {count}\n{errors}"))
}

/// What would be served with a good file.
fn summary(file: &str, loaded: &Loaded, env: &Environment, day: Day) -> String {
    let catalog = &loaded.catalog;
    let served =
        |status| catalog.models().iter().filter(|model| model.lifecycle.status_on(day) == status).count();
    let of = |status, name: &str| match served(status) {
        0 => String::new(),
        count => format!(", {count} {name}"),
    };
    let mut lines = vec![
        format!("{file} is good"),
        format!("version     {}", catalog.version()),
        format!("vendors     {}", vendors(loaded, env).join("\n            ")),
        format!(
            "models      {}{}{}",
            catalog.models().len(),
            of(ModelStatus::Deprecated, "deprecated"),
            of(ModelStatus::Retired, "retired")
        ),
        format!("aliases     {}", catalog.aliases().len()),
        format!("task types  {}", catalog.task_types().len()),
        format!("tenants     {}", catalog.tenants().len()),
    ];
    lines.push(format!("warnings    {}", loaded.warnings.len()));
    lines.extend(loaded.warning_lines());
    lines.join("\n")
}

/// Each vendor entry and whether it would be called.
fn vendors(loaded: &Loaded, env: &Environment) -> Vec<String> {
    let used = loaded.catalog.vendors(env);
    let state = |name: &str| match used.iter().find(|vendor| &*vendor.name == name) {
        Some(vendor) if vendor.simulated => "simulated",
        Some(_) => "real",
        None => "left out: it has no key or address here",
    };
    let names = loaded.config.vendors.keys();
    names.map(|name| format!("{name}: {}", state(name))).collect()
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_kit::config::load_text;
    use std::path::Path;

    fn check(text: &str, env: &[(&str, &str)]) -> Result<String, String> {
        let (env, day) = (Environment::new(env.iter().copied()), Day::parse("2026-11-29").unwrap());
        load_text(text, Some(Path::new("my.yaml")), &env, day)
            .map(|loaded| summary("my.yaml", &loaded, &env, day))
            .map_err(|errors| refused("my.yaml", &errors).to_string())
    }

    #[test]
    fn every_problem_has_its_file_line_column_and_field() {
        let message = check("default_alias: nobody\nserver:\n  listn: x\n", &[]).unwrap_err();
        assert!(message.starts_with("my.yaml is not good: "), "{message}");
        assert!(message.contains("\nmy.yaml:3:3: server"), "{message}");
        let message = check("default_alias: nobody\n", &[]).unwrap_err();
        assert!(message.starts_with("my.yaml is not good: 1 problem\nmy.yaml:1:"), "{message}");
        assert!(message.contains(": default_alias: "), "{message}");
    }

    #[test]
    fn a_good_file_says_which_vendors_would_be_called() {
        let summary = check("default_alias: smart\n", &[("OPENAI_API_KEY", "hunter2")]).unwrap();
        assert!(summary.starts_with("my.yaml is good\nversion     "), "{summary}");
        assert!(summary.contains("openai: real") && summary.contains("xai: left out"), "{summary}");
        assert!(!summary.contains("hunter2"), "{summary}");
    }

    #[test]
    fn without_any_key_every_vendor_is_simulated() {
        let summary = check("", &[]).unwrap();
        assert!(summary.contains("openai: simulated") && !summary.contains("real"), "{summary}");
    }
}
