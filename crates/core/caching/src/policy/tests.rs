use super::*;

fn semantic(to: Semantic) -> Overrides {
    Overrides { semantic: Some(to), ..Overrides::default() }
}

#[test]
fn only_exact_matches_are_served_where_nothing_is_configured() {
    for task in ["", "headline", "summary", "translation", "extraction", "poetry"] {
        let policy = TaskPolicy::of(task, []);
        assert!(policy.exact, "{task}");
        assert_eq!(policy.semantic, Semantic::Off, "{task}");
        assert!(!policy.normalized, "{task}");
    }
    for task in ["classification", "tags"] {
        assert_eq!(TaskPolicy::of(task, []).semantic, Semantic::Shadow, "{task}");
    }
    assert!(!TaskPolicy::of("chat", []).exact);
}

#[test]
fn what_is_more_special_wins() {
    let (defaults, task, tenant) = (
        Overrides { ttl: Some(HOUR * 2), floor: Some(0.9), ..Overrides::default() },
        Overrides { ttl: Some(HOUR * 3), ..semantic(Semantic::Shadow) },
        semantic(Semantic::On),
    );
    let policy = TaskPolicy::of("tags", [&defaults, &task, &tenant]);
    assert_eq!((policy.ttl, policy.floor, policy.semantic), (HOUR * 3, 0.9, Semantic::On));
    assert_eq!(policy.judge, Judge::Tags, "what nobody mentions stays as built in");
}

#[test]
fn a_translation_is_never_matched_by_meaning_whatever_is_configured() {
    assert_eq!(TaskPolicy::of("translation", [&semantic(Semantic::On)]).semantic, Semantic::Off);
}

#[test]
fn what_can_be_found_by_meaning_is_kept_for_a_week_at_most() {
    let month = Overrides { ttl: Some(LONGEST_TTL), ..Overrides::default() };
    assert_eq!(TaskPolicy::of("summary", [&month]).ttl, LONGEST_TTL);
    assert_eq!(TaskPolicy::of("summary", [&month, &semantic(Semantic::Shadow)]).ttl, WEEK);
}

#[test]
fn a_floor_belongs_to_an_embedder() {
    let floors = Overrides { floors: [("small".to_owned(), 0.8)].into(), ..Overrides::default() };
    let policy = TaskPolicy::of("tags", [&floors]);
    assert_eq!((policy.floor_of("small"), policy.floor_of("other")), (0.8, 0.92));
}

#[test]
fn what_cannot_be_is_refused_with_its_field() {
    let wrong = Overrides {
        floor: Some(0.2),
        floors: [("small".to_owned(), f32::NAN)].into(),
        ttl: Some(Duration::ZERO),
        precision_target: Some(1.0),
        temperature_at_most: Some(-1.0),
        ..Overrides::default()
    };
    let fields: Vec<String> = wrong.violations().into_iter().map(|violation| violation.field).collect();
    assert_eq!(fields, ["floor", "floors.small", "ttl", "precision_target", "temperature_at_most"]);
    assert!(Overrides::default().violations().is_empty());
}
