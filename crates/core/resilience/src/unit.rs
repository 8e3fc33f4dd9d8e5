//! Numbers from 0 to 1.

/// The number, held between 0 and 1; what is not a number is 0.
pub(crate) fn unit(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_comes_in_a_number_from_zero_to_one_comes_out() {
        for (value, held) in [
            (0.25, 0.25),
            (-1.0, 0.0),
            (7.0, 1.0),
            (f64::NAN, 0.0),
            (f64::INFINITY, 1.0),
            (f64::NEG_INFINITY, 0.0),
        ] {
            assert_eq!(unit(value), held, "{value}");
        }
    }
}
