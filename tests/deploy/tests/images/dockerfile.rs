//! A Dockerfile, taken apart.

use serde_json::Value;
use signalbox_deploy::read;

/// One line, joined with those that it goes on in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) word: String,
    /// What begins with `--`.
    pub(super) flags: Vec<String>,
    pub(super) rest: String,
}

/// What is from one `FROM` to the next. The first is what comes before any.
#[derive(Debug, Default)]
pub(super) struct Stage {
    pub(super) instructions: Vec<Instruction>,
}

/// The stages of deploy/Dockerfile.
pub(super) fn stages() -> Vec<Stage> {
    let mut stages = vec![Stage::default()];
    for instruction in parse(&read("deploy/Dockerfile")) {
        if instruction.word == "FROM" {
            stages.push(Stage::default());
        }
        stages.last_mut().unwrap().instructions.push(instruction);
    }
    stages
}

/// The one that the image is made of.
pub(super) fn last() -> Stage {
    stages().pop().unwrap()
}

fn parse(text: &str) -> Vec<Instruction> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    joined.lines().filter(|line| !line.trim().is_empty()).map(instruction).collect()
}

fn instruction(line: &str) -> Instruction {
    let (word, mut rest) = line.trim().split_once(' ').unwrap_or_else(|| (line.trim(), ""));
    let mut flags = Vec::new();
    while let Some(flag) = rest.trim_start().strip_prefix("--") {
        let (flag, after) = flag.split_once(' ').unwrap_or((flag, ""));
        flags.push(format!("--{flag}"));
        rest = after;
    }
    Instruction { word: word.to_owned(), flags, rest: rest.trim().to_owned() }
}

impl Instruction {
    /// A list as JSON has it, which is the form that needs no shell.
    pub(super) fn list(&self) -> Vec<String> {
        let list: Vec<Value> = serde_json::from_str(&self.rest)
            .unwrap_or_else(|error| panic!("{} `{}`: not in exec form: {error}", self.word, self.rest));
        list.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    }

    /// What stands between spaces.
    pub(super) fn words(&self) -> Vec<&str> {
        self.rest.split_whitespace().collect()
    }

    pub(super) fn flag(&self, name: &str) -> Option<&str> {
        self.flags.iter().find_map(|flag| flag.strip_prefix(&format!("--{name}=")))
    }
}

impl Stage {
    pub(super) fn all(&self, word: &str) -> Vec<&Instruction> {
        self.instructions.iter().filter(|instruction| instruction.word == word).collect()
    }

    pub(super) fn one(&self, word: &str) -> &Instruction {
        match self.all(word)[..] {
            [one] => one,
            ref others => panic!("{} times {word}", others.len()),
        }
    }

    /// The variables that it sets.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let pairs = self.all("ENV").into_iter().flat_map(|set| set.words());
        pairs
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }
}

#[test]
fn a_dockerfile_is_taken_apart_as_it_is_written() {
    let text = "# one\nFROM a AS b\nRUN --mount=x --y=z make \\\n    all\n\nCMD [\"serve\", \"--role\"]\n";
    let [from, run, cmd] = &parse(text)[..] else { panic!("{text}") };
    assert_eq!((from.word.as_str(), from.rest.as_str()), ("FROM", "a AS b"));
    assert_eq!((run.flag("y"), run.words()), (Some("z"), vec!["make", "all"]));
    assert_eq!(cmd.list(), ["serve", "--role"]);
}
