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

fn refused(text: &str, variables: &[(&str, &str)]) -> String {
    let env = Environment::new(variables.iter().copied());
    load_text(text, None, &env, today()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn an_address_that_cannot_be_read_is_refused_by_the_name_of_its_variable() {
    for (variable, written) in [
        ("OPENAI_COMPATIBLE_URL", "127.0.0.1:8000"),
        ("OPENAI_COMPATIBLE_URL", "ftp://127.0.0.1"),
        ("OLLAMA_HOST", "127.0.0.1:99999"),
        ("OLLAMA_HOST", "foo bar"),
    ] {
        for key in [("XAI_API_KEY", "k"), ("XAI_API_KEY", "")] {
            let told = refused("", &[(variable, written), key]);
            assert!(
                told.contains(&format!("base_url: {variable} in the environment is not an http")),
                "{told}"
            );
            assert!(!told.contains(written), "{told}");
        }
    }
    let simulated = "vendors: {local: {simulate: true}}";
    let all = vendors(simulated, &[("OPENAI_COMPATIBLE_URL", "127.0.0.1:8000")]);
    assert!(all.iter().all(|vendor| vendor.simulated));
}

#[test]
fn a_key_or_address_that_the_file_names_and_that_is_not_there_makes_nobody_simulated() {
    let to_call = |text: &str, variables: &[(&str, &str)]| {
        let vendors = load(text).vendors_to_call(&Environment::new(variables.iter().copied()));
        vendors.map(|vendors| names(&vendors).join(" ")).map_err(|errors| errors.to_string())
    };
    for (text, missing) in [
        ("vendors: {openai: {api_key: {env: MYKEY}}}", "the environment has no MYKEY"),
        ("vendors: {openai: {api_key: {file: /no/such}}}", "there is no key in /no/such"),
        ("vendors: {ollama: {base_url: {env: BOX}}}", "no http or https address in BOX"),
        ("vendors: {openai: {api_key: {env: MYKEY}}, xai: {simulate: true}}", "the environment has no MYKEY"),
    ] {
        assert!(vendors(text, &[]).iter().all(|vendor| &*vendor.name == "xai"), "{text}");
        let told = to_call(text, &[]).unwrap_err();
        assert!(told.contains(missing) && told.contains("`simulate: true`"), "{told}");
        assert_eq!(to_call(text, &[("GEMINI_API_KEY", "k")]).unwrap().split(' ').next(), Some("gemini"));
        let told: Vec<_> = load(text).warning_lines().collect();
        assert!(
            told.iter().any(|line| line.contains(missing) && line.contains("does not start")),
            "{told:?}"
        );
    }
    assert_eq!(to_call("vendors: {openai: {api_key: {env: MYKEY}}}", &[("MYKEY", "k")]).unwrap(), "openai");
    let simulated = "vendors: {openai: {api_key: {env: MYKEY}, simulate: true}}";
    assert!(to_call(simulated, &[]).unwrap().contains("openai"));
    assert!(to_call("", &[]).unwrap().contains("openai"));
}

#[test]
fn a_server_of_ones_own_without_the_key_that_the_file_names_is_called_without_one() {
    let text =
        "vendors: {mine: {kind: openai-compatible, base_url: 'http://10.0.0.1', api_key: {env: MYKEY}}}";
    assert_eq!(names(&vendors(text, &[])), ["mine"]);
    let told: Vec<_> = load(text).warning_lines().collect();
    let expected = "vendors.mine.api_key: the environment has no MYKEY: it is called without a key";
    assert!(told.len() == 1 && told[0].ends_with(expected), "{told:?}");
}

#[test]
fn a_variable_that_only_looks_like_a_vendors_is_told() {
    let told = |variables: &[(&str, &str)]| {
        let loaded = load_text("", None, &Environment::new(variables.iter().copied()), today()).unwrap();
        loaded.warning_lines().collect::<Vec<_>>().join("\n")
    };
    let slip = told(&[("OPENAI_APIKEY", "s3cr3t")]);
    let expected = "vendors.openai.api_key: nothing reads OPENAI_APIKEY in the environment (did you mean `OPENAI_API_KEY`?)";
    assert!(slip.contains(expected) && !slip.contains("s3cr3t"), "{slip}");
    assert_eq!(told(&[("OPENAI_APIKEY", "k"), ("OPENAI_API_KEY", "k")]), "");
    assert_eq!(told(&[("XAI_API_KEY", "k"), ("PATH", "/bin"), ("HOME", "/"), ("OPENAI_BASE_URL", "x")]), "");
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
        (":11435", "http://127.0.0.1:11435"),
        ("[::]", "http://[::1]:11434"),
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
