//! `signalbox check-config`: what is wrong with a configuration file, or what would be served with it.

use super::{CommandError, environment, print, today};
use signalbox_kit::{
    Clock, SystemClock,
    config::{self, ConfigErrors, Environment, Loaded},
    tls::{self, FileProblem},
};
use signalbox_pricing::{Day, ModelStatus};
use std::{path::PathBuf, time::SystemTime};

const HELP: &str = "\
Keys are looked for in this environment and in the files that the configuration names; none is shown. The files of
certificates, those that a database's URL names included, are looked into where they are; one that cannot be read here
is a warning. So is a vendor's key that is not here: only a process that calls vendors needs it.";

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
    let file = args.file.display().to_string();
    let loaded = config::load(Some(&args.file), &env, day)
        .and_then(|loaded| with_certificates(loaded, SystemClock.now()))
        .map_err(|errors| refused(&file, &errors))?;
    print(&summary(&file, &loaded, &env, day))
}

/// The same, where the files of certificates are good, too. Those that are not here may be where it is served.
fn with_certificates(mut loaded: Loaded, now: SystemTime) -> Result<Loaded, ConfigErrors> {
    let found = tls::inspect(&loaded.config, now);
    let at_its_field = |file: FileProblem| loaded.problem(file.field, file.message);
    let problems: Vec<_> = found.faults.into_iter().map(at_its_field).collect();
    let warnings: Vec<_> = found.warnings.into_iter().map(at_its_field).collect();
    if !problems.is_empty() {
        return Err(ConfigErrors { file: loaded.file, problems });
    }
    loaded.warnings.extend(warnings);
    Ok(loaded)
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
    use signalbox_certificates::{Authority, Pair};
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

    /// A configuration in a folder with these files, and what is said of it.
    fn check_with(files: &[(&str, &str)]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for (name, content) in files {
            std::fs::write(file(name), content).unwrap();
        }
        let text = format!(
            "server:\n  tls:\n    certificate_file: {0}/tls.crt\n    key_file: {0}/tls.key\nmtls:\n  \
             certificate_file: {0}/tls.crt\n  key_file: {0}/tls.key\n  ca_file: {0}/ca.crt\n",
            folder.path().display()
        );
        let (env, day) = (Environment::new([("", ""); 0]), Day::parse("2026-11-29").unwrap());
        load_text(&text, Some(Path::new("my.yaml")), &env, day)
            .and_then(|loaded| with_certificates(loaded, SystemClock.now()))
            .map(|loaded| summary("my.yaml", &loaded, &env, day))
            .map_err(|errors| refused("my.yaml", &errors).to_string())
            .map_err(|said| said.replace(&format!("{}/", folder.path().display()), ""))
    }

    #[test]
    fn files_of_certificates_are_looked_into_as_at_the_start() {
        let authority = Authority::new();
        let Pair { certificate_pem, key_pem } = authority.issue(&["router"]);
        let ca_pem = authority.ca_pem();
        let with = |name: &str, content: &str| {
            let good = [("tls.crt", &*certificate_pem), ("tls.key", &key_pem), ("ca.crt", &ca_pem)];
            check_with(&good.map(|file| if file.0 == name { (file.0, content) } else { file }))
        };
        assert!(with("", "").unwrap().contains("\nwarnings    0"));
        let said = with("tls.key", &authority.issue(&[]).key_pem).unwrap_err();
        let told = "tls.key: is not the key of the certificate in tls.crt";
        assert!(said.starts_with("my.yaml is not good: 2 problems\n"), "{said}");
        for at in ["4:15: server.tls.key_file", "7:13: mtls.key_file"] {
            assert!(said.contains(&format!("my.yaml:{at}: {told}")), "{said}");
        }
        let said = with("tls.crt", &(authority.issue(&[]).certificate_pem)).unwrap_err();
        assert!(said.contains("my.yaml:7:13: mtls.key_file"), "{said}");
        let said = with("ca.crt", "none").unwrap_err();
        assert!(said.contains("my.yaml:8:12: mtls.ca_file: ca.crt: has no certificate"), "{said}");
        let said = with("ca.crt", &Authority::new().ca_pem()).unwrap();
        assert!(said.contains("\nwarnings    1") && said.contains("would not be believed"), "{said}");
    }

    #[test]
    fn a_file_that_is_not_here_may_be_where_it_is_served() {
        let said = check_with(&[]).unwrap();
        assert!(said.contains("\nwarnings    2"), "{said}");
        for field in ["server.tls.certificate_file: ", "mtls.certificate_file: "] {
            assert!(said.contains(field) && said.contains("tls.crt: cannot be read"), "{said}");
        }
    }

    #[test]
    fn the_file_that_a_database_is_known_by_is_looked_into_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.crt");
        let check = || {
            let url = format!("postgres://me@host/db?sslmode=verify-full&sslrootcert={}", file.display());
            let text = format!("batch: {{store: {{postgres: {{url: '{url}'}}}}}}");
            let (env, day) = (Environment::default(), Day::parse("2026-11-29").unwrap());
            load_text(&text, Some(Path::new("my.yaml")), &env, day)
                .and_then(|loaded| with_certificates(loaded, SystemClock.now()))
                .map(|loaded| summary("my.yaml", &loaded, &env, day))
                .map_err(|errors| refused("my.yaml", &errors).to_string())
        };
        let away = check().unwrap();
        assert!(
            away.contains("batch.store.postgres.url: ") && away.contains("ca.crt: cannot be read"),
            "{away}"
        );
        std::fs::write(&file, "none").unwrap();
        let bad = check().unwrap_err();
        assert!(
            bad.contains("batch.store.postgres.url: ") && bad.contains("ca.crt: has no certificate"),
            "{bad}"
        );
        std::fs::write(&file, Authority::new().ca_pem()).unwrap();
        assert!(check().unwrap().contains("\nwarnings    0"));
    }

    #[test]
    fn a_key_that_is_not_here_makes_nobody_simulated() {
        let summary = check("vendors: {openai: {api_key: {env: MYKEY}}}", &[]).unwrap();
        assert!(summary.contains("openai: left out") && !summary.contains(": simulated"), "{summary}");
        assert!(
            summary.contains("the environment has no MYKEY") && summary.contains("does not start"),
            "{summary}"
        );
        let told = check("", &[("OLLAMA_HOST", "foo bar")]).unwrap_err();
        assert!(told.contains("vendors.ollama.base_url: OLLAMA_HOST in the environment is not"), "{told}");
    }

    #[test]
    fn without_any_key_every_vendor_is_simulated() {
        let summary = check("", &[]).unwrap();
        assert!(summary.contains("openai: simulated") && !summary.contains("real"), "{summary}");
    }
}
