use crate::content::{Action, ContentPolicy, Pii, Place, Rule, What};

fn redacted(kind: Pii, text: &str) -> String {
    let rule = Rule {
        name: "pii".into(),
        what: What::Pii(vec![kind]),
        places: vec![Place::Input],
        action: Action::Redact,
        placeholder: Some("#".to_owned()),
    };
    let policy = ContentPolicy::new(vec![rule]).unwrap();
    policy.inspect(Place::Input).text(text).unwrap_or_else(|| text.to_owned())
}

fn assert_redacted(kind: Pii, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(redacted(kind, text), *expected, "{kind:?}: {text}");
    }
}

fn assert_left_alone(kind: Pii, texts: &[&str]) {
    for text in texts {
        assert_eq!(redacted(kind, text), *text, "{kind:?}");
    }
}

#[test]
fn e_mail_addresses_are_found_and_what_is_around_them_stays() {
    assert_redacted(
        Pii::Email,
        &[
            ("Write to Ann.Lee+news@mail.example.co.uk.", "Write to #."),
            ("<a@b.io>,c@d.example; e", "<#>,#; e"),
            ("ann@example.com—or not", "#—or not"),
            ("ann@example.com- no", "#- no"),
            ("mailto:o'neil_x%y@xn--caf-dma.example?", "mailto:#?"),
        ],
    );
    assert_left_alone(Pii::Email, &["@ann", "a@localhost", "3 @ 4.5", "a @ b.com", "x@y.z", "user@.com"]);
}

#[test]
fn telephone_numbers_are_found_and_other_numbers_left_alone() {
    assert_redacted(
        Pii::Phone,
        &[
            ("Call +39 333 123 4567 now", "Call # now"),
            ("+442079460958", "#"),
            ("0039 02 1234567", "#"),
            ("(415) 555-2671.", "#."),
            ("415-555-2671", "#"),
            ("cell. 333-1234567", "cell. #"),
            ("tel 06 12345678", "tel #"),
            ("+49 (30) 901820", "#"),
            ("+39 333 1234567 2024 1999 3000", "# 2024 1999 3000"),
            ("+393331234567 06-12345678", "# #"),
            ("+393331234567 0612345678", "# 0612345678"),
            ("+39 333 1234567-2024", "#-2024"),
            ("Tel. (030) 123456", "Tel. #"),
            ("(06) 1234 5678, 030/901820", "#, #"),
            ("020 7946 0958 or 07911 123456", "# or #"),
            ("01 23 45 67 89, 01.23.45.67.89", "#, #"),
        ],
    );
    assert_left_alone(
        Pii::Phone,
        &[
            "2024-05-06 12:30:45",
            "345.678.901 euro",
            "order 1234567890",
            "1.234.567,89",
            "IT60X0542811101000000123456",
            "10.0.0.1",
            "+1",
            "a 123-45-6789 b",
            "4111 1111 1111 1111",
        ],
    );
}

#[test]
fn ibans_are_found_by_length_and_check_digits() {
    assert_redacted(
        Pii::Iban,
        &[
            ("IT60X0542811101000000123456 per favore", "# per favore"),
            ("it60 x054 2811 1010 0000 0123 456, grazie", "#, grazie"),
            ("GB82 WEST 1234 5698 7654 32", "#"),
            ("DE89370400440532013000", "#"),
            ("NO9386011117947", "#"),
            ("MT84MALT011000012345MTLCAST001S", "#"),
        ],
    );
    assert_left_alone(
        Pii::Iban,
        &[
            "IT61X0542811101000000123456",
            "IT60X05428111010000001234567",
            "XX60X0542811101000000123456",
            "DE8937040044053201300",
        ],
    );
}

#[test]
fn cards_are_found_by_network_length_and_check_digit() {
    assert_redacted(
        Pii::CreditCard,
        &[
            ("4111 1111 1111 1111 12/29", "# 12/29"),
            ("5500-0000-0000-0004", "#"),
            ("378282246310005.", "#."),
            ("no. 6011111111111117", "no. #"),
            ("1234 4111 1111 1111 1111", "1234 #"),
        ],
    );
    assert_left_alone(
        Pii::CreditCard,
        &["4111 1111 1111 1112", "1234567812345670", "41111111111111111", "x4111111111111111"],
    );
}

#[test]
fn ip_addresses_are_found_and_versions_times_and_paths_left_alone() {
    assert_redacted(
        Pii::IpAddress,
        &[
            ("from 192.168.0.1:8080.", "from #:8080."),
            ("8.8.8.8, 2001:db8::1", "#, #"),
            ("[fe80::1ff:fe23:4567:890a]", "[#]"),
            ("::ffff:10.0.0.1", "#"),
        ],
    );
    assert_left_alone(
        Pii::IpAddress,
        &["v1.2.3.4", "1.2.3.4.5", "256.1.1.1", "12:30:45", "std::net::IpAddr", "aa:bb:cc:dd:ee:ff", "1.2.3"],
    );
}

#[test]
fn fiscal_codes_are_found_by_their_check_character() {
    assert_redacted(
        Pii::CodiceFiscale,
        &[("C.F. RSSMRA85T10A562S", "C.F. #"), ("rssmra85t10a562s.", "#."), ("RSSMRAURTMLARSNL", "#")],
    );
    assert_left_alone(Pii::CodiceFiscale, &["RSSMRA85T10A562T", "RSSMRA85T10A562SX", "RSSMRA85Z10A562S"]);
}

#[test]
fn social_security_numbers_are_found_where_they_may_exist() {
    assert_redacted(Pii::UsSsn, &[("SSN 123-45-6789.", "SSN #."), ("123 45 6789", "#")]);
    assert_left_alone(
        Pii::UsSsn,
        &[
            "000-45-6789",
            "666-45-6789",
            "900-45-6789",
            "123-00-6789",
            "123-45-0000",
            "123-45-67890",
            "123456789",
        ],
    );
}
