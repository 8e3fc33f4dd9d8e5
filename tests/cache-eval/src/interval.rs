//! How sure a share is.

/// The 95 % interval of Clopper and Pearson for a share of `hits` in `of`: never too narrow.
pub fn clopper_pearson(hits: usize, of: usize) -> (f64, f64) {
    const TAIL: f64 = 0.025;
    if of == 0 {
        return (0.0, 1.0);
    }
    let low = if hits == 0 { 0.0 } else { solve(|share| at_least(hits, of, share) < TAIL) };
    let high = if hits == of { 1.0 } else { solve(|share| 1.0 - at_least(hits + 1, of, share) > TAIL) };
    (low, high)
}

/// The share up to which something holds.
fn solve(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The probability of `hits` or more in `of` draws.
fn at_least(hits: usize, of: usize, share: f64) -> f64 {
    if share <= 0.0 {
        return 0.0;
    }
    // In logarithms, as the coefficients are large.
    let mut coefficient = 0.0_f64;
    let mut sum = 0.0;
    for drawn in 0..=of {
        if drawn > 0 {
            coefficient += ((of - drawn + 1) as f64 / drawn as f64).ln();
        }
        if drawn >= hits {
            sum += (coefficient + drawn as f64 * share.ln() + (of - drawn) as f64 * (1.0 - share).ln()).exp();
        }
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_books() {
        for (hits, of, low, high) in [
            (0, 100, 0.0, 0.0362),
            (100, 100, 0.9638, 1.0),
            (5, 10, 0.1871, 0.8129),
            (299, 300, 0.9816, 0.9999),
        ] {
            let (found_low, found_high) = clopper_pearson(hits, of);
            assert!(
                (found_low - low).abs() < 2e-4 && (found_high - high).abs() < 2e-4,
                "{hits}/{of}: {found_low} {found_high}"
            );
        }
    }
}
