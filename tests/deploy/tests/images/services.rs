//! What compose starts: pinned, with no more rights and no more doors than it needs, and nothing that is not there.

use super::compose::{self, Compose, Service};
use signalbox_deploy::read;
use signalbox_testkit::workspace;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    process::Command,
};

#[test]
fn without_passwords_it_does_not_start_and_says_which_are_missing() {
    let output = compose::docker_compose(&BTreeMap::new(), &["config", "--quiet"]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    for name in compose::demanded() {
        assert!(
            said.contains(&format!("{name} is missing a value: see deploy/compose.env.example")),
            "{name}: {said}"
        );
    }
}

#[test]
fn the_line_in_the_example_makes_a_file_that_is_enough() {
    let example = read("deploy/compose.env.example");
    let line =
        example.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| line.starts_with('('));
    // Where there is a copy of the example, and nothing else.
    let folder = tempfile::tempdir().unwrap();
    let deploy = folder.path().join("deploy");
    fs::create_dir(&deploy).unwrap();
    fs::write(deploy.join("compose.env.example"), &example).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", line.unwrap()]).current_dir(folder.path());
    assert!(shell.status().unwrap().success());
    let mode = fs::metadata(deploy.join(".env")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else reads it");
    let made = fs::read_to_string(deploy.join(".env")).unwrap();
    let pairs = made.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    let values: BTreeMap<String, String> = pairs.map(|(name, value)| (name.into(), value.into())).collect();
    assert_eq!(values.keys().cloned().collect::<BTreeSet<_>>(), compose::demanded().into_iter().collect());
    let different: BTreeSet<&String> = values.values().filter(|value| value.len() >= 32).collect();
    assert_eq!(different.len(), values.len(), "each has a secret of its own, long enough for the program");
    Compose::with(&values);
}

/// A default would be known to everybody who can read this repository.
#[test]
fn no_secret_has_a_default() {
    let text = read("deploy/compose.yaml");
    for reference in text.split("${").skip(1).map(|rest| rest.split('}').next().unwrap()) {
        let end = reference.find(|character: char| !character.is_ascii_uppercase() && character != '_');
        let (name, how) = reference.split_at(end.unwrap_or(reference.len()));
        let secret = ["PASSWORD", "SECRET", "KEY"].iter().any(|word| name.contains(word));
        assert!(!secret || how == ":-" || how.starts_with(":?"), "{name} has a default");
    }
    let example = read("deploy/compose.env.example");
    let given =
        example.lines().filter(|line| !line.starts_with('#') && !line.is_empty() && !line.ends_with('='));
    assert_eq!(given.collect::<Vec<_>>(), Vec::<&str>::new(), "the example gives no value");
}

#[test]
fn every_secret_comes_from_the_environment() {
    for service in Compose::read().services() {
        for (name, value) in service.environment() {
            let secret = ["PASSWORD", "SECRET", "_KEY", "AUTH"].iter().any(|word| name.contains(word));
            let value = value.trim_matches('"');
            let given = compose::values().values().any(|given| given == value);
            assert!(!secret || given || value.is_empty(), "{}: {name} is written out", service.name);
        }
    }
}

/// Everybody on the machine reads command lines.
#[test]
fn no_secret_is_on_a_command_line() {
    let values = compose::values();
    for service in Compose::read().services() {
        let check = service.health_check().unwrap_or_default();
        let words = [service.strings("command"), service.strings("entrypoint"), check].concat();
        for (name, value) in &values {
            assert!(words.iter().all(|word| !word.contains(value)), "{}: {name}", service.name);
        }
    }
}

#[test]
fn only_what_people_use_is_published_and_only_on_this_machine() {
    let compose = Compose::read();
    let mut published = BTreeSet::new();
    for service in compose.services() {
        for port in service.value["ports"].as_array().into_iter().flatten() {
            assert_eq!(port["host_ip"], "127.0.0.1", "{}", service.name);
            published.insert(service.name);
        }
    }
    assert_eq!(published, BTreeSet::from(["batch", "grafana", "prometheus", "router"]));
    assert_eq!(compose.0["networks"]["inside"]["internal"], true);
    // Where a name led to two addresses, what is counted there would be counted twice.
    let mut members: BTreeMap<String, usize> = BTreeMap::new();
    for service in compose.services() {
        let networks = service.networks();
        assert!(networks.contains(&"inside".to_owned()), "{}", service.name);
        for network in networks.into_iter().filter(|network| network != "inside") {
            *members.entry(network).or_default() += 1;
        }
    }
    assert_eq!(
        members,
        BTreeMap::from([
            ("clients".into(), 1),
            ("dashboards".into(), 2),
            ("jobs".into(), 1),
            ("vendors".into(), 1)
        ])
    );
}

#[test]
fn nothing_can_gain_rights_and_the_roles_have_none() {
    let compose = Compose::read();
    for service in compose.services() {
        assert_eq!(service.strings("security_opt"), ["no-new-privileges:true"], "{}", service.name);
        assert!(
            service.value["privileged"].is_null() && service.value["cap_add"].is_null(),
            "{}",
            service.name
        );
        let engine = service.binds().iter().any(|bind| bind.source.ends_with("docker.sock"));
        assert!(!engine, "{} may command the container engine", service.name);
    }
    for role in compose.roles() {
        assert_eq!(role.value["read_only"], true, "{}", role.name);
        assert_eq!(role.strings("cap_drop"), ["ALL"], "{}", role.name);
    }
}

#[test]
fn only_the_adapter_has_the_vendors_keys() {
    const KEYS: [&str; 4] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY"];
    let compose = Compose::read();
    for service in compose.services() {
        let has = KEYS.iter().filter(|key| service.environment().contains_key(**key)).count();
        assert_eq!(has, if service.name == "adapter" { KEYS.len() } else { 0 }, "{}", service.name);
    }
    let adapter = compose.service("adapter").environment();
    assert!(
        KEYS.iter().all(|key| adapter[*key].is_empty()),
        "vendors are simulated until somebody says otherwise"
    );
}

#[test]
fn every_image_has_a_version() {
    for service in Compose::read().services() {
        let image = service.value["image"].as_str().unwrap();
        let tag = image.rsplit_once(':').unwrap_or_else(|| panic!("{image} has no tag")).1;
        let built = !service.value["build"].is_null();
        assert!(built || tag.chars().any(|character| character.is_ascii_digit()), "{image}");
        assert_ne!(tag, "latest", "{image}");
    }
}

#[test]
fn every_role_is_built_from_this_repository() {
    let compose = Compose::read();
    let roles: Vec<_> = compose.roles().map(|role| role.name.to_owned()).collect();
    assert_eq!(roles, ["adapter", "batch", "ingest", "migrate", "router"]);
    for role in compose.roles() {
        let build = &role.value["build"];
        assert_eq!(build["context"].as_str().map(std::path::Path::new), Some(workspace()));
        assert!(workspace().join(build["dockerfile"].as_str().unwrap()).is_file());
    }
}

/// What is in an image is as its makers document it; none has been started here.
fn programs_of(image: &str) -> &'static [&'static str] {
    match image.split_once(':').map_or(image, |(name, _)| name) {
        "signalbox" => &["signalbox"],
        "postgres" => &["pg_isready"],
        "redis" => &["redis-cli"],
        // Alpine and BusyBox.
        "nats" | "prom/prometheus" | "grafana/grafana" => &["wget"],
        "clickhouse/clickhouse-server" => &["wget", "clickhouse-client"],
        "otel/opentelemetry-collector" => &[],
        other => panic!("what is in {other}?"),
    }
}

#[test]
fn health_checks_use_what_is_in_their_images() {
    for service in Compose::read().services() {
        let there = programs_of(service.value["image"].as_str().unwrap());
        match service.health_check().as_deref() {
            Some([how, program, ..]) => {
                assert_eq!(how, "CMD", "{}: not every image has a shell", service.name);
                assert!(there.contains(&program.as_str()), "{}: {program}", service.name);
            }
            Some(other) => panic!("{}: {other:?}", service.name),
            None => assert!(there.is_empty() || service.name == "migrate", "{} has none", service.name),
        }
    }
}

#[test]
fn whoever_is_waited_for_has_something_to_wait_for() {
    let compose = Compose::read();
    let waits = |service: Service<'_>| service.value["depends_on"].as_object().cloned().unwrap_or_default();
    for service in compose.services() {
        for (other, how) in waits(service) {
            let other = compose.service(&other);
            match how["condition"].as_str().unwrap() {
                "service_healthy" => assert!(other.health_check().is_some(), "{}", other.name),
                "service_completed_successfully" => assert_eq!(other.value["restart"], "no"),
                condition => assert_eq!(condition, "service_started"),
            }
        }
    }
    for role in ["router", "adapter", "ingest", "batch"] {
        let how = waits(compose.service(role))["migrate"]["condition"].clone();
        assert_eq!(how, "service_completed_successfully", "{role} may find no tables");
    }
}

#[test]
fn what_is_mounted_is_there_and_cannot_be_written_to() {
    let compose = Compose::read();
    let mut mounted = 0;
    for service in compose.services() {
        for bind in service.binds() {
            assert!(bind.source.exists(), "{}: {}", service.name, bind.source.display());
            assert!(bind.source.starts_with(workspace().join("deploy")), "{}", bind.source.display());
            assert!(bind.read_only, "{}: {} can be written to", service.name, bind.target);
            mounted += 1;
        }
    }
    assert!(mounted >= 9, "only {mounted} mounts were looked at");
}

#[test]
fn what_must_survive_is_in_a_named_volume_of_its_own() {
    let compose = Compose::read();
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for service in compose.services() {
        for volume in service.volumes().filter(|volume| volume["type"] == "volume") {
            users.entry(volume["source"].as_str().unwrap()).or_default().push(service.name);
        }
    }
    assert!(users.values().all(|users| users.len() == 1), "one process uses a spool at a time: {users:?}");
    let declared: BTreeSet<&str> =
        compose.0["volumes"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(users.keys().copied().collect::<BTreeSet<_>>(), declared);
    for name in ["router", "adapter", "batch", "postgres", "clickhouse", "nats"] {
        assert!(declared.contains(name), "{name}");
    }
}

#[test]
fn a_role_has_longer_to_end_than_it_drains() {
    let drain = signalbox_deploy::yaml("deploy/signalbox.yaml")["server"]["drain_timeout"].clone();
    assert_eq!(drain, "30s");
    for role in Compose::read().roles() {
        assert_eq!(role.value["stop_grace_period"], "50s", "{}", role.name);
    }
}
