//! Notices at once what is plainly bad, whatever its history.

use crate::{
    scale::{Expectation, Reading},
    verdict::{Standing, Verdict},
};

/// A share of which nothing is known yet.
const UNKNOWN: f64 = 0.015;

/// A minute's verdict against a fixed value. It is calm again at half of it, so that an alert does not flap.
pub(crate) fn judge(
    reading: Reading,
    limit: f64,
    least_calls: f64,
    expected: Option<Expectation>,
) -> Verdict {
    let observed = reading.value();
    let standing = if observed >= limit && reading.of >= least_calls {
        Standing::Breach
    } else if observed < limit / 2.0 {
        Standing::Calm
    } else {
        Standing::Between
    };
    let expected = expected.map_or(UNKNOWN, Expectation::value);
    Verdict { standing, observed, expected, threshold: limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(k: f64, n: f64) -> Standing {
        judge(Reading { sum: k, of: n }, 0.3, 50.0, None).standing
    }

    #[test]
    fn three_of_ten_is_a_breach_from_fifty_calls_on() {
        assert_eq!(standing(15.0, 50.0), Standing::Breach);
        assert_eq!(standing(49.0, 49.0), Standing::Between, "too few to open, too bad to close");
        assert_eq!(standing(10.0, 50.0), Standing::Between);
        assert_eq!(standing(7.0, 50.0), Standing::Calm);
    }
}
