use super::*;
use crate::{
    clock::{Clock as _, SystemClock},
    config::ServerTlsConfig,
    tls::{ServerTls, authorities, files::PemFile, verify},
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use signalbox_certificates::Terms;

/// What is wrong with files of which one is `content` instead.
fn problem(name: &str, content: &str) -> String {
    let authority = Authority::new();
    let files = Files::of(&authority.issue(&["router"]), &authority.ca_pem());
    files.write_one(name, content);
    let problem = Mtls::load(&files.config(TRUST_DOMAIN), &[]).unwrap_err();
    let path = files.0.path().join(name);
    assert!(problem.contains(path.to_str().unwrap()), "{problem}");
    problem.replace(&format!("{}/", files.0.path().display()), "")
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_the_field_that_names_it() {
    let other = Authority::new().issue(&["router"]);
    for (name, content, told) in [
        ("tls.crt", "", "mtls.certificate_file: tls.crt: has no certificate in the form of PEM"),
        ("tls.crt", &other.key_pem, "mtls.certificate_file: tls.crt: has no certificate in the form of PEM"),
        ("tls.key", "", "mtls.key_file: tls.key: has no private key in the form of PEM"),
        ("tls.key", &other.key_pem, "mtls.key_file: tls.key: is not the key of the certificate in tls.crt"),
        ("ca.crt", "", "mtls.ca_file: ca.crt: has no certificate in the form of PEM"),
    ] {
        assert_eq!(problem(name, content), told);
    }
}

#[test]
fn a_key_is_never_shown_not_even_a_broken_one_in_the_wrong_place() {
    let key = Authority::new().issue(&["router"]).key_pem;
    let secret = key.lines().nth(1).unwrap();
    let broken = key.replace("-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY");
    for name in ["tls.crt", "tls.key", "ca.crt"] {
        let problem = problem(name, &broken);
        assert!(!problem.contains(secret), "{problem}");
    }
    let authority = Authority::new();
    let pair = authority.issue(&["router"]);
    let shown = format!("{:?}", Files::of(&pair, &authority.ca_pem()).mtls());
    let secret = pair.key_pem.lines().nth(1).unwrap();
    assert!(!shown.contains(secret), "{shown}");
}

#[test]
fn a_certificate_between_roles_says_a_role_of_their_trust_domain() {
    let authority = Authority::new();
    let elsewhere = Terms { roles: &["router"], trust_domain: "elsewhere", ..Terms::default() };
    for pair in [authority.issue_for_hosts(&["router.example"]), authority.issue_on(&elsewhere)] {
        let files = Files::of(&pair, &authority.ca_pem());
        let problem = Mtls::load(&files.config(TRUST_DOMAIN), &[]).unwrap_err();
        let told = "speaks for no role: it needs a URI such as spiffe://signalbox/router among its alternative names";
        assert!(problem.starts_with("mtls.certificate_file: ") && problem.ends_with(told), "{problem}");
    }
}

#[test]
fn a_file_that_is_not_there_is_told_and_so_is_it_towards_clients() {
    let authority = Authority::new();
    let files = Files::of(&authority.issue(&["router"]), &authority.ca_pem());
    let MtlsConfig { certificate_file, .. } = files.config(TRUST_DOMAIN);
    let server = ServerTlsConfig { certificate_file, key_file: "/nowhere/tls.key".into() };
    let problem = ServerTls::load(&server).unwrap_err();
    assert!(problem.starts_with("server.tls.key_file: /nowhere/tls.key: cannot be read: "), "{problem}");
}

#[test]
fn it_is_known_before_anybody_calls_whether_those_with_the_same_authorities_would_believe_the_certificate() {
    let (authority, now) = (Authority::new(), SystemClock.now());
    let certificate = authority.issue(&["router"]).certificate_pem;
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    let believed_by = |other: &Authority| {
        let files = Files::of(&other.issue(&["router"]), &other.ca_pem());
        let ca = PemFile { field: "mtls.ca_file", path: &files.0.path().join("ca.crt") };
        verify::in_both_directions(&certificate, &[], &authorities::load(ca).unwrap(), now)
    };
    assert_eq!(believed_by(&authority), Ok(()));
    assert_eq!(believed_by(&Authority::new()), Err(webpki::Error::InvalidSignatureForPublicKey));
}

#[tokio::test]
async fn an_expired_certificate_does_not_keep_a_process_from_starting() {
    let authority = Authority::new();
    let expired = authority.issue_on(&Terms { roles: &["router"], ..Terms::default() }.expired());
    let files = Files::of(&expired, &authority.ca_pem());
    let mtls = files.mtls();
    assert_eq!(mtls.roles().names(), ["router"]);
    files.write(&authority.issue(&["cache"]), &authority.ca_pem());
    mtls.look().await;
    assert_eq!(mtls.roles().names(), ["cache"]);
}
