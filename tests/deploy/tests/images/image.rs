//! The image: that it can be built of what a build sees, and that it is what an operator trusts.

use super::{
    context::{self, Context},
    dockerfile::{self, Instruction},
};
use signalbox_deploy::{read, yaml};
use signalbox_testkit::{built, tool, workspace};
use std::{collections::BTreeSet, fs, path::Path, process::Command};

const DOCKERFILE: &str = "deploy/Dockerfile";

/// The instructions that take something out of the repository.
fn copies() -> Vec<Instruction> {
    let all = dockerfile::stages().into_iter().flat_map(|stage| stage.instructions);
    all.filter(|copy| copy.word == "COPY" && copy.flag("from").is_none()).collect()
}

/// What they take.
fn sources() -> Vec<String> {
    let sources = |copy: &Instruction| {
        let words: Vec<String> = copy.words().into_iter().map(str::to_owned).collect();
        words[..words.len() - 1].to_vec()
    };
    copies().iter().flat_map(sources).collect()
}

/// An argument's default, which names an image.
fn argument(name: &str) -> String {
    let stages = dockerfile::stages();
    let mut arguments = stages.iter().flat_map(|stage| stage.all("ARG"));
    let value =
        arguments.find_map(|argument| argument.rest.strip_prefix(&format!("{name}=")).map(str::to_owned));
    value.unwrap_or_else(|| panic!("{DOCKERFILE} has no default of {name}"))
}

#[test]
fn hadolint_finds_nothing() {
    let output = Command::new(tool("hadolint")).arg(workspace().join(DOCKERFILE)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_build_sees_what_it_copies_and_no_more() {
    let (context, sources) = (Context::read(), sources());
    for source in &sources {
        assert!(!context.files(source).is_empty(), "{source} is not there, or .dockerignore keeps it out");
    }
    for entry in fs::read_dir(workspace()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let copied = sources.iter().any(|source| source.split('/').next() == Some(&name));
        assert!(copied || !context.has(&name), "{name} goes into every build, and nothing of it is copied");
    }
}

#[test]
fn no_secret_no_artefact_and_no_history_gets_into_a_build() {
    let context = Context::read();
    for path in [
        ".git/config",
        ".tools/bin/grpcurl",
        "target/release/signalbox",
        "crates/kit/target/x",
        "deploy/.env",
        "crates/app/signalbox/.env",
        "crates/app/signalbox/prod.env",
        "crates/kit/server.key",
        "crates/kit/server.pem",
        "signalbox-data/spool/0",
    ] {
        assert!(!context.has(path), "{path}");
    }
    assert!(context.has("crates/app/signalbox/src/main.rs"));
}

/// Cargo reads the manifests of all members before it builds one.
#[test]
fn what_is_copied_is_a_whole_workspace_with_its_lock_file() {
    let (context, folder) = (Context::read(), tempfile::tempdir().unwrap());
    let files: Vec<_> = sources().iter().flat_map(|source| context.files(source)).collect();
    context::copy(&files, folder.path());
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--package", "signalbox", "--depth", "0"]);
    let output = cargo.current_dir(folder.path()).env_remove("CARGO_TARGET_DIR").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let program = folder.path().join("crates/app/signalbox/src/main.rs");
    assert!(program.is_file(), "the package has no program");
    included_files_are_there(&files, folder.path());
}

/// What the code takes in when it is compiled. Tests may take in more: they are not built there.
fn included_files_are_there(files: &[std::path::PathBuf], root: &Path) {
    let built = |file: &&std::path::PathBuf| {
        let path = file.to_string_lossy();
        path.starts_with("crates/")
            && path.ends_with(".rs")
            && !path.contains("/tests")
            && !path.contains("/dev/")
    };
    let mut seen = 0;
    for file in files.iter().filter(built) {
        let text = fs::read_to_string(root.join(file)).unwrap();
        for after in text.split("include_str!(\"").chain(text.split("include_bytes!(\"")).skip(1) {
            let Some((name, _)) = after.split_once("\")") else { continue };
            if name.len() > 100 || name.contains('\n') {
                continue;
            }
            let included = root.join(file).parent().unwrap().join(name);
            assert!(included.is_file(), "{} includes {name}, which no build sees", file.display());
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} inclusions were found");
}

#[test]
fn it_is_built_with_the_workspaces_rust_for_a_base_of_the_same_debian() {
    let manifest = read("Cargo.toml");
    let version = manifest.split("rust-version = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let (builder, base) = (argument("RUST_IMAGE"), argument("BASE_IMAGE"));
    let debian = builder.strip_prefix(&format!("rust:{version}-"));
    let debian = debian.unwrap_or_else(|| panic!("{builder} is not Rust {version}, as Cargo.toml has it"));
    let number = match debian {
        "bookworm" => 12,
        "trixie" => 13,
        other => panic!("which Debian is {other}?"),
    };
    assert!(base.contains(&format!("cc-debian{number}:")), "{base} may have an older libc than {builder}");
}

#[test]
fn its_build_is_the_locked_release_of_the_program() {
    let stages = dockerfile::stages();
    let run = &stages[1].one("RUN").rest;
    assert!(run.contains("cargo build --release --locked --package signalbox --bin signalbox"), "{run}");
    let caches: Vec<_> =
        stages[1].one("RUN").flags.iter().filter(|flag| flag.contains("type=cache")).collect();
    assert_eq!(caches.len(), 2, "{caches:?}");
    // Where it is taken from is where it was put, and it is what is started.
    let last = dockerfile::last();
    let program = last.all("COPY")[0];
    assert!(run.contains(program.words()[0]), "{} is not made by: {run}", program.words()[0]);
    assert!(Path::new(program.words()[1]).ends_with(&last.one("ENTRYPOINT").list()[0]));
}

/// Of the libraries that the base has: libc, libm and the like, and libgcc_s.
#[test]
fn the_program_is_linked_to_nothing_that_the_base_lacks() {
    const THERE: [&str; 7] = [
        "linux-vdso.so.1",
        "libgcc_s.so.1",
        "libm.so.6",
        "libc.so.6",
        "libpthread.so.0",
        "libdl.so.2",
        "librt.so.1",
    ];
    let output = Command::new("ldd").arg(built("signalbox")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    let names: BTreeSet<&str> =
        names.filter(|name| !name.contains("/ld-linux") && !name.contains("/ld64")).collect();
    assert!(names.contains("libc.so.6"), "{text}");
    assert!(names.iter().all(|name| THERE.contains(name)), "{text}");
}

#[test]
fn it_runs_as_nobody_and_is_started_without_a_shell() {
    let last = dockerfile::last();
    let user = &last.one("USER").rest;
    let (user, group) = user.split_once(':').unwrap_or_else(|| panic!("{user} has no group"));
    assert!(user.parse::<u32>().unwrap() > 0 && group.parse::<u32>().unwrap() > 0);
    assert_eq!(last.one("ENTRYPOINT").list(), ["signalbox"]);
    assert_eq!(last.one("CMD").list(), ["serve"]);
    assert!(last.all("RUN").is_empty(), "the base has nothing to run");
}

#[test]
fn its_data_are_in_a_volume_that_its_user_owns() {
    let last = dockerfile::last();
    let environment = last.environment();
    let of = |name: &str| environment.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone());
    let data = of("SIGNALBOX_DATA_DIR").unwrap();
    assert_eq!(last.one("VOLUME").list().join(" "), data);
    let copies = last.all("COPY");
    let folder = copies.iter().find(|copy| copy.words()[1] == data).unwrap();
    assert_eq!(folder.flag("chown"), Some(last.one("USER").rest.as_str()));
    let configuration = of("SIGNALBOX_CONFIG").unwrap();
    assert!(copies.iter().any(|copy| copy.words() == ["deploy/image.yaml", &configuration]));
}

#[test]
fn its_ports_are_those_that_it_listens_on() {
    let configuration = yaml("deploy/image.yaml");
    let listens = configuration["server"].as_object().unwrap().values();
    let mut ports: BTreeSet<&str> =
        listens.map(|address| address.as_str().unwrap().rsplit_once(':').unwrap().1).collect();
    // Other roles' own, of a file with `mtls`.
    assert!(ports.insert("50052"));
    let last = dockerfile::last();
    assert_eq!(last.one("EXPOSE").words().into_iter().collect::<BTreeSet<_>>(), ports);
    assert_eq!(ports.len(), 4);
}

#[test]
fn it_says_what_it_is() {
    let labels = &dockerfile::last().one("LABEL").rest.clone();
    for name in ["title", "description", "licenses", "version", "revision"] {
        assert!(labels.contains(&format!("org.opencontainers.image.{name}=")), "{name}");
    }
    let licence = format!("licenses=\"{}\"", "Apache-2.0");
    assert!(labels.contains(&licence) && read("Cargo.toml").contains("license = \"Apache-2.0\""));
}
