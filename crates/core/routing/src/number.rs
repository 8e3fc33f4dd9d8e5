//! Numbers from outside.

/// The nearest number between the two; what is not a number counts as the least.
pub(crate) fn within(value: f64, least: f64, most: f64) -> f64 {
    if value.is_nan() { least } else { value.clamp(least, most) }
}
