use super::*;

fn vendors(text: &str, variables: &[(&str, &str)]) -> Vec<VendorSettings> {
    load(text).catalog.vendors(&Environment::new(variables.iter().copied()))
}

fn names(vendors: &[VendorSettings]) -> Vec<&str> {
    vendors.iter().map(|vendor| &*vendor.name).collect()
}

fn only<'a>(vendors: &'a [VendorSettings], name: &str) -> &'a VendorSettings {
    vendors.iter().find(|vendor| &*vendor.name == name).unwrap()
}

#[test]
fn without_any_key_or_address_every_vendor_is_simulated() {
    for variables in [[].as_slice(), &[("OPENAI_API_KEY", ""), ("OLLAMA_HOST", " ")]] {
        let all = vendors("", variables);
        assert_eq!(names(&all), ["anthropic", "gemini", "local", "ollama", "openai", "xai"]);
        assert!(all.iter().all(|vendor| vendor.simulated && vendor.key.is_none()));
    }
}

#[test]
fn a_configured_vendor_is_real_and_the_others_are_left_out() {
    let some = vendors(
        "",
        &[("ANTHROPIC_API_KEY", "secret"), ("OPENAI_COMPATIBLE_URL", "http://127.0.0.1:8080/v1/")],
    );
    assert_eq!(names(&some), ["anthropic", "local"]);
    let anthropic = only(&some, "anthropic");
    assert!(!anthropic.simulated && anthropic.base_url.is_none());
    assert_eq!(anthropic.key.as_ref().unwrap().expose(), "secret");
    let local = only(&some, "local");
    assert_eq!(
        (local.kind, local.base_url.as_deref(), &local.key),
        (VendorKind::OpenaiCompatible, Some("http://127.0.0.1:8080"), &None)
    );
}

#[test]
fn an_address_that_is_none_does_not_make_a_vendor_real() {
    let all = vendors("", &[("OPENAI_COMPATIBLE_URL", "localhost:8080")]);
    assert!(all.iter().all(|vendor| vendor.simulated));
    let env = Environment::new([("OPENAI_COMPATIBLE_URL", "localhost:8080"), ("XAI_API_KEY", "k")]);
    let loaded = load_text("vendors: {local: {max_queue: 1}}", None, &env, today()).unwrap();
    let told: Vec<_> = loaded.warning_lines().collect();
    let expected = "configuration:1:18: vendors.local: is left out: the environment has no http or https address in OPENAI_COMPATIBLE_URL";
    assert_eq!(told, [expected]);
}

#[test]
fn simulate_decides_for_one_vendor() {
    let text = "vendors: {xai: {simulate: true}, gemini: {simulate: false}}";
    let some = vendors(text, &[("OPENAI_API_KEY", "k"), ("XAI_API_KEY", "k")]);
    assert_eq!(names(&some), ["openai", "xai"]);
    assert!(only(&some, "xai").simulated && only(&some, "xai").key.is_none());
    let none = vendors(text, &[("XAI_API_KEY", "k")]);
    assert!(!names(&none).contains(&"gemini") && none.iter().all(|vendor| vendor.simulated));
}

#[test]
fn an_address_in_the_file_counts_as_configured_where_no_key_is_declared() {
    let text = "vendors: {mine: {kind: openai, base_url: 'http://10.0.0.1'}}";
    assert_eq!(names(&vendors(text, &[])), ["mine"]);
}

#[test]
fn ollamas_own_way_of_writing_its_address_is_understood() {
    for (written, url) in [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("0.0.0.0:11435", "http://127.0.0.1:11435"),
        ("gpu-box", "http://gpu-box:11434"),
        ("http://gpu-box:80/", "http://gpu-box:80"),
        ("https://ollama.com/", "https://ollama.com"),
        ("https://host/prefix", "https://host/prefix"),
    ] {
        let some = vendors("", &[("OLLAMA_HOST", written)]);
        assert_eq!(only(&some, "ollama").base_url.as_deref(), Some(url), "{written}");
    }
}

#[test]
fn a_secret_is_never_shown() {
    let env = Environment::new([("OPENAI_API_KEY", "topsecret")]);
    let shown = format!("{:?} {env:?}", load("").catalog.vendors(&env));
    assert!(!shown.contains("topsecret"), "{shown}");
}
