//! Vectors of length 1, compared.

use std::cmp::Ordering;

/// Sums that run side by side, so that the compiler keeps them in one register.
const LANES: usize = 16;

/// The inner product: of vectors of length 1, their cosine similarity. Vectors of different lengths are compared as far as
/// the shorter one goes.
pub fn dot(one: &[f32], other: &[f32]) -> f32 {
    let length = one.len().min(other.len());
    let (one, other) = (&one[..length], &other[..length]);
    let (ones, others) = (one.chunks_exact(LANES), other.chunks_exact(LANES));
    let rest: f32 = ones.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in ones.zip(others) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    rest + sums.iter().sum::<f32>()
}

/// Makes a vector one of length 1. One without a direction, or with what is not a number, becomes all zeros: near to nothing.
pub fn normalise(vector: &mut [f32]) {
    let length = dot(vector, vector).sqrt();
    let scale = if length.is_normal() { 1.0 / length } else { 0.0 };
    for value in vector {
        *value = if value.is_finite() { *value * scale } else { 0.0 };
    }
}

/// The vector at length 1; `None` where it has no direction.
pub fn normal(vector: &[f32]) -> Option<Vec<f32>> {
    let length = dot(vector, vector).sqrt();
    let normal: Vec<f32> = vector.iter().map(|value| value / length).collect();
    (!normal.is_empty() && normal.iter().all(|value| value.is_finite())).then_some(normal)
}

/// The rows of a matrix that are nearest to a vector, at most so many, nearest first; of equally near ones the first row.
/// The matrix has its rows one after the other, each as long as the vector.
pub fn nearest(matrix: &[f32], vector: &[f32], most: usize) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(most.saturating_add(1).min(64));
    if vector.is_empty() || most == 0 {
        return best;
    }
    let mut bar = f32::NEG_INFINITY;
    for (row, values) in matrix.chunks_exact(vector.len()).enumerate() {
        let similarity = dot(values, vector);
        // What is not a number is near to nothing.
        if similarity > bar {
            let at = best.partition_point(|(_, held)| held.total_cmp(&similarity) != Ordering::Less);
            best.insert(at, (row, similarity));
            best.truncate(most);
            if let Some((_, last)) = best.get(most - 1) {
                bar = *last;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_nearest_rows_come_first() {
        let matrix = [1.0, 0.0, 0.0, 1.0, 0.6, 0.8, -1.0, 0.0];
        let rows = |most| nearest(&matrix, &[1.0, 0.0], most).iter().map(|near| near.0).collect::<Vec<_>>();
        assert_eq!(rows(2), [0, 2]);
        assert_eq!(rows(9), [0, 2, 1, 3]);
        assert!(rows(0).is_empty());
        assert_eq!(nearest(&[f32::NAN, 0.0], &[1.0, 0.0], 3), []);
    }

    #[test]
    fn of_rows_equally_near_the_first_wins() {
        let rows: Vec<_> = nearest(&[0.5; 40], &[0.5, 0.5], 3).iter().map(|near| near.0).collect();
        assert_eq!(rows, [0, 1, 2]);
    }

    #[test]
    fn what_has_no_direction_is_near_to_nothing() {
        for mut vector in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0]] {
            normalise(&mut vector);
            assert_eq!(vector, [0.0, 0.0]);
        }
    }

    fn vectors() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0..1.0_f32, 37 * 20)
    }

    proptest! {
        #[test]
        fn it_is_the_inner_product(values in vectors()) {
            let (one, other) = (&values[..37], &values[37..74]);
            let exact: f64 = one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            prop_assert!((f64::from(dot(one, other)) - exact).abs() < 1e-4);
        }

        #[test]
        fn the_nearest_are_those_that_sorting_finds(values in vectors(), most in 1..25_usize) {
            let (vector, matrix) = values.split_at(37);
            let mut sorted: Vec<_> = matrix.chunks_exact(37).map(|row| dot(row, vector)).enumerate().collect();
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
            sorted.truncate(most);
            prop_assert_eq!(nearest(matrix, vector, most), sorted);
        }
    }
}
