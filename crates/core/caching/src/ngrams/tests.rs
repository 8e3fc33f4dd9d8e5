use super::*;
use crate::vectors::dot;
use proptest::prelude::*;

fn similarity(one: &str, other: &str) -> f32 {
    dot(&embed(one), &embed(other))
}

#[test]
fn the_same_request_in_other_spelling_has_the_same_vector() {
    assert_eq!(embed("Write a headline"), embed("  write  A\nheadline "));
    assert_eq!(embed("Ｗｒｉｔｅ"), embed("write"));
    assert_eq!(embed("ЗАГОЛОВОК"), embed("заголовок"));
}

#[test]
fn a_word_more_is_near_and_another_topic_is_far() {
    let near = similarity("Write a headline for the article", "Please write a headline for the article");
    let far = similarity("Write a headline for the article", "Перекладіть текст польською");
    assert!(near > 0.8 && far < 0.2, "{near} {far}");
}

#[test]
fn a_negation_is_near_too_which_is_why_nearness_alone_serves_nothing() {
    assert!(similarity("Include the names of the victims", "Do not include the names of the victims") > 0.8);
}

/// Vectors are stored, and compared with those of later releases.
#[test]
fn the_vectors_of_this_name_do_not_change() {
    let places = |text| {
        let length = 6.0_f32.sqrt();
        let vector: Vec<f32> = embed(text);
        let places = vector.into_iter().enumerate().filter(|(_, value)| *value != 0.0);
        places.map(|(place, value)| (place, (value * length).round())).collect::<Vec<_>>()
    };
    assert_eq!(places("ab"), [(239, 1.0), (268, 1.0), (355, 1.0), (362, 1.0), (411, 1.0), (484, -1.0)]);
    assert_eq!(places("ЖА"), [(2, -1.0), (111, 1.0), (143, -1.0), (387, 1.0), (422, 1.0), (495, 1.0)]);
}

#[test]
fn an_empty_text_has_no_direction() {
    assert!(embed("").iter().all(|value| *value == 0.0));
    assert_eq!(embed(" \n"), embed(""));
}

proptest! {
    #[test]
    fn every_text_has_a_vector_of_length_1(text in "\\PC{1,80}") {
        let vector = embed(&text);
        let length = dot(&vector, &vector);
        prop_assert!(vector.len() == DIMENSIONS && (length == 0.0 || (length - 1.0).abs() < 1e-5), "{length}");
    }
}
