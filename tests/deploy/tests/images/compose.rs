//! deploy/compose.yaml, as docker-compose itself reads it.

use serde_json::Value;
use signalbox_deploy::read;
use signalbox_testkit::{tool, workspace};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The variables of deploy/compose.env.example that must be given a value.
pub(super) fn demanded() -> Vec<String> {
    let example = read("deploy/compose.env.example");
    let names =
        example.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.strip_suffix('='));
    names.map(str::to_owned).collect()
}

/// A value for each of them, none like another.
pub(super) fn values() -> BTreeMap<String, String> {
    let value =
        |name: String| (name.clone(), format!("{}-{}", "0123456789abcdef".repeat(2), name.to_lowercase()));
    demanded().into_iter().map(value).collect()
}

/// Runs docker-compose over the file, with nothing but these variables.
pub(super) fn docker_compose(values: &BTreeMap<String, String>, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("env");
    let lines: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    fs::write(&file, lines.concat()).unwrap();
    let mut command = Command::new(tool("docker-compose"));
    command
        .arg("--file")
        .arg(workspace().join("deploy/compose.yaml"))
        .arg("--env-file")
        .arg(file)
        .args(arguments);
    command.env_clear().env("HOME", folder.path()).current_dir(folder.path());
    command.output().unwrap()
}

/// The whole file, with everything in it resolved.
#[derive(Debug)]
pub(super) struct Compose(pub(super) Value);

impl Compose {
    pub(super) fn read() -> Self {
        Self::with(&values())
    }

    pub(super) fn with(values: &BTreeMap<String, String>) -> Self {
        let output = docker_compose(values, &["config", "--format", "json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self(serde_json::from_slice(&output.stdout).unwrap())
    }

    pub(super) fn services(&self) -> impl Iterator<Item = Service<'_>> {
        let services = self.0["services"].as_object().unwrap().iter();
        services.map(|(name, value)| Service { name, value })
    }

    pub(super) fn service<'c>(&'c self, name: &'c str) -> Service<'c> {
        Service { name, value: &self.0["services"][name] }
    }

    /// What the file has in itself of a file that a container sees, by where the container sees it.
    pub(super) fn inline(&self, service: Service<'_>) -> BTreeMap<String, String> {
        let mounts = service.value["configs"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let content = |mount: &Value| text(&self.0["configs"][text(&mount["source"])]["content"]);
        mounts.map(|mount| (text(&mount["target"]), content(mount))).collect()
    }

    /// Those of the image that is built here.
    pub(super) fn roles(&self) -> impl Iterator<Item = Service<'_>> {
        self.services().filter(|service| !service.value["build"].is_null())
    }
}

/// One service of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Service<'c> {
    pub(super) name: &'c str,
    pub(super) value: &'c Value,
}

/// A file or folder of the repository that a container sees.
#[derive(Debug)]
pub(super) struct Bind {
    pub(super) source: PathBuf,
    pub(super) target: String,
    pub(super) read_only: bool,
}

impl<'c> Service<'c> {
    pub(super) fn strings(&self, key: &str) -> Vec<String> {
        strings(&self.value[key])
    }

    pub(super) fn environment(&self) -> BTreeMap<String, String> {
        let pairs = self.value["environment"].as_object().into_iter().flatten();
        pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
    }

    pub(super) fn volumes(&self) -> impl Iterator<Item = &'c Value> + use<'c> {
        self.value["volumes"].as_array().into_iter().flatten()
    }

    pub(super) fn binds(&self) -> Vec<Bind> {
        let bind = |volume: &Value| Bind {
            source: Path::new(volume["source"].as_str().unwrap()).to_owned(),
            target: volume["target"].as_str().unwrap().to_owned(),
            read_only: volume["read_only"] == true,
        };
        self.volumes().filter(|volume| volume["type"] == "bind").map(bind).collect()
    }

    pub(super) fn networks(&self) -> Vec<String> {
        self.value["networks"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    /// The command of its health check, where it has one.
    pub(super) fn health_check(&self) -> Option<Vec<String>> {
        let test = strings(&self.value["healthcheck"]["test"]);
        (!test.is_empty()).then_some(test)
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|item| item.as_str().unwrap().to_owned()).collect()
}
