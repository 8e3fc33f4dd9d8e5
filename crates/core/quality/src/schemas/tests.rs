use super::*;
use proptest::prelude::*;

fn schema(number: usize) -> JsonText {
    JsonText::parse(format!(r#"{{"maximum":{number}}}"#)).unwrap()
}

fn kept(schemas: &Schemas) -> (usize, usize) {
    let kept = schemas.kept.read().unwrap();
    let weight: usize = kept.by_text.values().map(|entry| entry.weight).sum();
    assert_eq!(kept.weight, weight);
    (kept.by_text.len(), weight)
}

#[test]
fn the_same_text_is_compiled_once() {
    let schemas = Schemas::new(2);
    let first = schemas.get(&schema(1)).unwrap();
    assert!(Arc::ptr_eq(&first, &schemas.get(&schema(1)).unwrap()));
    assert!(!Arc::ptr_eq(&first, &schemas.get(&schema(2)).unwrap()));
    assert!(first.check("2").is_err());
    assert_eq!(kept(&schemas).0, 2);
}

#[test]
fn the_least_recently_used_goes_first() {
    let schemas = Schemas::new(2);
    let one = schemas.get(&schema(1)).unwrap();
    let two = schemas.get(&schema(2)).unwrap();
    schemas.check(&schema(1)).unwrap();
    schemas.check(&schema(3)).unwrap();
    assert!(Arc::ptr_eq(&one, &schemas.get(&schema(1)).unwrap()));
    assert!(!Arc::ptr_eq(&two, &schemas.get(&schema(2)).unwrap()));
}

#[test]
fn what_is_no_schema_drives_nothing_out() {
    let schemas = Schemas::new(1);
    let one = schemas.get(&schema(1)).unwrap();
    for text in ["7", r#"{"type":7}"#, r#"{"$ref":"https://example.com/x"}"#] {
        schemas.check(&JsonText::parse(text).unwrap()).unwrap_err();
    }
    assert!(Arc::ptr_eq(&one, &schemas.get(&schema(1)).unwrap()));
}

#[test]
fn memory_is_bounded_whatever_the_schemas_hold() {
    let schemas = Schemas::new(1_000);
    let most_text = MOST_WEIGHT / TEXT_WEIGHT;
    let large = |number: usize, length: usize| {
        JsonText::parse(format!(r#"{{"maximum":{number},"description":"{}"}}"#, "x".repeat(length))).unwrap()
    };
    for number in 0..6 {
        schemas.check(&large(number, most_text / 3)).unwrap();
        assert!(kept(&schemas).1 <= MOST_WEIGHT);
    }
    assert_eq!(kept(&schemas).0, 2);
    schemas.get(&large(0, most_text)).unwrap().check("1").unwrap_err();
    assert_eq!(kept(&schemas).0, 2);
    for number in 0..300 {
        schemas.check(&JsonText::parse(format!(r#"{{"pattern":"^a{number}$"}}"#)).unwrap()).unwrap();
    }
    assert!(kept(&schemas).0 < 260);
    Schemas::new(0).get(&schema(1)).unwrap().check("1").unwrap();
}

#[test]
fn threads_share_what_is_compiled() {
    let schemas = Schemas::new(8);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let schemas = &schemas;
            scope.spawn(move || {
                for round in 0..500 {
                    let number = (round * (thread + 1)) % 12;
                    let validator = schemas.get(&schema(number)).unwrap();
                    validator.check(&number.to_string()).unwrap();
                    validator.check(&(number + 1).to_string()).unwrap_err();
                }
            });
        }
    });
    assert!(kept(&schemas).0 <= 8);
}

proptest! {
    #[test]
    fn the_right_schema_comes_back_whatever_was_dropped(
        numbers in prop::collection::vec(0_usize..12, 1..60),
        most in 0_usize..6,
    ) {
        let schemas = Schemas::new(most);
        for number in numbers {
            let validator = schemas.get(&schema(number)).unwrap();
            prop_assert!(validator.check(&number.to_string()).is_ok());
            prop_assert!(validator.check(&(number + 1).to_string()).is_err());
            prop_assert!(kept(&schemas).0 <= most);
        }
    }
}
