//! Money as an integer.

use std::{fmt, iter::Sum, ops::Add};

/// Nano-EUR in one euro.
pub const NANOS_PER_EUR: i64 = 1_000_000_000;

/// An amount of money: a count of nano-EUR (10⁻⁹ €), never a float. Range ± 9.2 billion euros; sums saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount.
    pub const MAX: Self = Self(i64::MAX);

    /// From nano-EUR.
    pub const fn from_nano_eur(nanos: i64) -> Self {
        Self(nanos)
    }

    /// As nano-EUR.
    pub const fn nano_eur(self) -> i64 {
        self.0
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

/// Euros with all significant digits and at least two decimals, as in `€0.000123456` or `€12.50`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let (euros, fraction) = (nanos / NANOS_PER_EUR.unsigned_abs(), nanos % NANOS_PER_EUR.unsigned_abs());
        let digits = format!("{fraction:09}");
        let kept = digits.trim_end_matches('0').len().max(2);
        write!(f, "{sign}€{euros}.{}", digits.get(..kept).unwrap_or(&digits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_every_significant_digit_and_at_least_cents() {
        assert_eq!(Money::from_nano_eur(12_500_000_000).to_string(), "€12.50");
        assert_eq!(Money::from_nano_eur(123_456).to_string(), "€0.000123456");
        assert_eq!(Money::from_nano_eur(-1).to_string(), "-€0.000000001");
        assert_eq!(Money::ZERO.to_string(), "€0.00");
        assert_eq!(Money::from_nano_eur(i64::MIN).to_string(), "-€9223372036.854775808");
    }
}
