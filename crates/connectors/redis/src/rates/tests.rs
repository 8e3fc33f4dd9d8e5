use super::*;

#[test]
fn no_two_names_become_one() {
    for (name, written) in [
        ("", ""),
        ("acme-1_x.y", "acme-1_x.y"),
        ("a:b{c}", "a%3Ab%7Bc%7D"),
        ("%3A", "%253A"),
        ("ä", "%C3%A4"),
    ] {
        assert_eq!(encoded(name), written);
    }
}

#[test]
fn an_answer_that_makes_no_sense_is_no_grant() {
    for answer in [&[][..], &[0], &[0, 1, 2, 3, 4, 5], &[1, 0], &[2], &[3, 0], &[0; 14]] {
        assert!(matches!(read(answer, 2), Err(NoRate::Away(_))), "{answer:?}");
    }
    assert_eq!(read(&[0; 13], 2), Ok(vec![RateGrant::default(); 2]));
}
