use super::*;
use std::path::PathBuf;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each example of `docs/configuration.md`.
fn examples() -> Vec<String> {
    let page = std::fs::read_to_string(repository().join("docs/configuration.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    blocks.map(|(block, _)| block.to_owned()).collect()
}

/// The complete example of `docs/configuration.md`.
pub(super) fn example() -> String {
    let page = std::fs::read_to_string(repository().join("docs/configuration.md")).unwrap();
    let example = page.split("<!-- complete example -->").nth(1).expect("the page has an example");
    let body = example.split_once("```yaml\n").unwrap().1;
    body.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_example_in_the_documentation_loads_without_a_warning() {
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY"];
    let env = Environment::new(keys.map(|name| (name, "k")));
    let loaded = load_with(&example(), &env).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(loaded.warning_lines().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn every_example_in_the_documentation_loads() {
    for example in examples() {
        good(&example);
    }
}

/// Run with `SIGNALBOX_BLESS=1` to write the schema anew.
#[test]
fn the_published_schema_is_the_one_the_program_reads_by() {
    let path = repository().join("docs/signalbox.schema.json");
    let schema = json_schema();
    if std::env::var_os("SIGNALBOX_BLESS").is_some() {
        std::fs::write(&path, format!("{schema:#}\n")).unwrap();
    }
    let published: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(
        published == schema,
        "docs/signalbox.schema.json is out of date: run this test with SIGNALBOX_BLESS=1"
    );
}

#[test]
fn an_editor_with_the_published_schema_takes_the_example_and_shows_a_slip() {
    let validator = jsonschema::validator_for(&json_schema()).unwrap();
    let value = |text: &str| serde_saphyr::from_str::<serde_json::Value>(text).unwrap();
    assert!(validator.is_valid(&value(&example())), "{:?}", validator.validate(&value(&example())));
    for good in [
        "models: {openai/gpt-6-luna: {max_output_tokens: 5}}",
        "vendors: {xai: null, openai: {max_queue: 1}}",
    ] {
        assert!(validator.is_valid(&value(good)), "{good}");
    }
    for slip in [
        "alises: {}",
        "vendors: {openai: {api_key: sk-1}}",
        "failover: {max_switches: -1}",
        "server: {drain_timeout: 5 seconds}",
    ] {
        assert!(!validator.is_valid(&value(slip)), "{slip}");
    }
}

#[test]
fn the_built_in_catalogue_is_what_its_script_writes() {
    let script = repository().join("deploy/catalog/generate.py");
    let output = std::process::Command::new("python3").arg(script).arg("--check").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
