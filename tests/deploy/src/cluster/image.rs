//! What the image of every role has in it, as `deploy/Dockerfile` says.

use super::env::Environment;
use signalbox_testkit::built;
use std::path::PathBuf;

/// Every runtime sets it, whatever the image says.
const SEARCHED: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// An image: a program, and what a container is when nothing else is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The program on this machine.
    pub program: PathBuf,
    /// Where it is in the image.
    pub path: String,
    /// What is started where no `command` is rendered.
    pub entrypoint: Vec<String>,
    /// What it is told where neither `command` nor `args` are.
    pub arguments: Vec<String>,
    /// User and group where none are rendered.
    pub user: (u32, u32),
    /// Variables that are set where nothing else is rendered.
    pub environment: Environment,
}

impl Image {
    /// The image of `signalbox`, with the program as it was built last.
    pub fn signalbox() -> Self {
        Self::of(&crate::read("deploy/Dockerfile"), "signalbox")
    }

    /// The last stage of a Dockerfile.
    fn of(dockerfile: &str, program: &str) -> Self {
        let joined = dockerfile.replace("\\\n", " ");
        let lines: Vec<&str> = joined.lines().map(str::trim).collect();
        let last = lines.iter().rposition(|line| line.starts_with("FROM ")).unwrap_or_default();
        let stage: Vec<(&str, &str)> =
            lines.iter().skip(last).filter_map(|line| line.split_once(' ')).collect();
        let all = |word: &'static str| stage.iter().filter(move |line| line.0 == word).map(|line| line.1);
        let list = |word| {
            let written = all(word).next_back().unwrap_or("[]");
            serde_json::from_str(written).unwrap_or_else(|error| panic!("{word} {written}: {error}"))
        };
        let end = format!("/{program}");
        let path =
            all("COPY").filter_map(|copied| copied.rsplit(' ').next()).find(|path| path.ends_with(&end));
        let user = all("USER").next_back().and_then(|user| user.split_once(':'));
        let user = user.and_then(|(user, group)| Some((user.parse().ok()?, group.parse().ok()?)));
        let variables = all("ENV").flat_map(str::split_whitespace).filter_map(|set| set.split_once('='));
        let path_variable = std::iter::once(("PATH", SEARCHED));
        let environment = path_variable.chain(variables);
        Self {
            program: built(program),
            path: path.unwrap_or_else(|| panic!("no COPY brings {end} into the image")).to_owned(),
            entrypoint: list("ENTRYPOINT"),
            arguments: list("CMD"),
            user: user.unwrap_or_else(|| panic!("there is no USER with two numbers")),
            environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }
    }
}
