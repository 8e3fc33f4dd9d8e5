//! Two special functions that the standard library does not have.

use std::f64::consts::PI;

/// Logarithm of the gamma function for positive numbers: Lanczos' approximation (g = 7, nine terms), to some 15 digits.
pub(super) fn ln_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const FIRST: f64 = 0.999_999_999_999_809_9;
    const TERMS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let series =
        TERMS.iter().zip(1_u8..).fold(FIRST, |sum, (term, index)| sum + term / (x + f64::from(index)));
    let t = x + G + 0.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + series.ln()
}

/// Logarithm of the beta function.
pub(super) fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// The regularised incomplete beta function: the chance that a Beta(a, b) variable is at most `x`.
pub(super) fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp();
    // The fraction converges quickly on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of it (Abramowitz and Stegun 26.5.8), by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const CLOSE: f64 = 1e-14;
    let held = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / held(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for index in 1_u32..2_000 {
        let m = f64::from(index);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = 1.0 / held(1.0 + step * d);
            c = held(1.0 + step / c);
            change = c * d;
            result *= change;
        }
        if (change - 1.0).abs() < CLOSE {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gamma_function_meets_factorials_and_a_half() {
        let mut factorial = 1.0_f64;
        for n in 1_u32..30 {
            assert!((ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-11, "{n}");
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - PI.sqrt().ln()).abs() < 1e-13);
        assert!((ln_gamma(0.25) - 1.288_022_524_698_077_5).abs() < 1e-12);
    }

    #[test]
    fn the_beta_distribution_meets_its_closed_forms() {
        for x in [0.01, 0.3, 0.5, 0.9, 0.999_f64] {
            assert!((beta_cdf(x, 1.0, 1.0) - x).abs() < 1e-12);
            assert!((beta_cdf(x, 5.0, 1.0) - x.powi(5)).abs() < 1e-12);
            assert!((beta_cdf(x, 1.0, 7.0) - (1.0 - (1.0 - x).powi(7))).abs() < 1e-12);
            assert!((beta_cdf(x, 3.5, 0.5) + beta_cdf(1.0 - x, 0.5, 3.5) - 1.0).abs() < 1e-12);
        }
        assert_eq!((beta_cdf(0.0, 2.0, 3.0), beta_cdf(1.0, 2.0, 3.0)), (0.0, 1.0));
    }
}
