//! The chart, rendered by helm as an operator would.

use signalbox_testkit::{tool, workspace};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Where the chart is.
pub const CHART: &str = "k8s/charts/signalbox";
/// What installations are called here.
pub const RELEASE: &str = "signalbox";
/// The namespace of installations here.
pub const NAMESPACE: &str = "llm";

/// A version of helm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helm {
    /// 3.17.2.
    Three,
    /// 4.3.1.
    Four,
}

impl Helm {
    /// Those that the chart is for.
    pub const BOTH: [Self; 2] = [Self::Three, Self::Four];

    /// Runs a command with the chart, values, and further arguments.
    pub fn run(self, command: &[&str], values: &[&Path], more: &[&str]) -> Output {
        let program = match self {
            Self::Three => "helm3",
            Self::Four => "helm4",
        };
        let mut helm = Command::new(tool(program));
        helm.current_dir(workspace()).args(command).arg(CHART).args(["--namespace", NAMESPACE]);
        for file in values {
            helm.arg("--values").arg(file);
        }
        helm.args(more).output().unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    /// What the chart renders.
    pub fn template(self, values: &[&Path], more: &[&str]) -> Result<String, String> {
        let output = self.run(&["template", RELEASE], values, more);
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

/// The YAML files of a folder, named from the root of the repository, in order.
pub fn values_files(folder: &str) -> Vec<PathBuf> {
    let folder = workspace().join(folder);
    let entries = folder.read_dir().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    files.sort();
    files
}
