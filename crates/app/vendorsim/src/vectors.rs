//! Embeddings: words hashed into dimensions, then scaled to length one. Texts that share words are near each other.

use crate::seed;

/// The vector of `text`.
pub(crate) fn embed(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = seed::hash(word.to_lowercase().as_bytes());
        let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
        if let Some(value) = vector.get_mut((hash % dimensions.max(1) as u64) as usize) {
            *value += sign;
        }
    }
    scale_to_unit(&mut vector);
    vector
}

fn scale_to_unit(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    } else if let Some(first) = vector.first_mut() {
        *first = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        embed(a, 256).iter().zip(embed(b, 256)).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn vectors_have_length_one_even_for_no_text() {
        for text in ["", "one", "one two one"] {
            let length: f32 = embed(text, 8).iter().map(|value| value * value).sum();
            assert!((length - 1.0).abs() < 1e-5, "{text}: {length}");
        }
    }

    #[test]
    fn texts_that_share_words_are_nearer_than_texts_that_do_not() {
        assert!(
            cosine("rain in Lyon today", "rain in Oslo today")
                > cosine("rain in Lyon today", "quarterly tax report")
        );
    }
}
