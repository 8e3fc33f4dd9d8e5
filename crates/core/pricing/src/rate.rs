//! Prices of one token, exactly.

use std::fmt;

/// Price of one token in pico-USD (10⁻¹² USD), which is USD per million tokens with six decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

/// The text is not a decimal number that can be kept exactly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number from 0 to 1000000000 with at most 6 decimals")]
pub struct InvalidDecimal(String);

impl Rate {
    /// Nothing.
    pub const FREE: Self = Self(0);

    /// From pico-USD per token.
    pub const fn from_pico_usd(pico_usd: u64) -> Self {
        Self(pico_usd)
    }

    /// From USD per million tokens as a decimal text, as in `0.125`.
    pub fn from_usd_per_mtok(text: &str) -> Result<Self, InvalidDecimal> {
        parse_decimal(text).map(Self)
    }

    /// As pico-USD per token, which is micro-USD per million tokens.
    pub const fn pico_usd(self) -> u64 {
        self.0
    }
}

/// USD per million tokens, as in `0.125`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let digits = format!("{fraction:06}");
        let kept = digits.trim_end_matches('0');
        if kept.is_empty() { write!(f, "{whole}") } else { write!(f, "{whole}.{kept}") }
    }
}

/// Reads an unsigned decimal text such as `12`, `0.125` or `5e-1` as millionths, exactly.
///
/// Refuses signs, NaN, infinities, more than six decimals and anything above a billion: a price is none of these.
pub fn parse_decimal(text: &str) -> Result<u64, InvalidDecimal> {
    read_decimal(text).ok_or_else(|| InvalidDecimal(text.to_owned()))
}

fn read_decimal(text: &str) -> Option<u64> {
    const MAX_MILLIONTHS: u64 = 1_000_000_000 * 1_000_000;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok().filter(|e| e.abs() <= 18)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits_only = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let shaped = digits_only(whole) && digits_only(fraction) && !(whole.is_empty() && fraction.is_empty());
    if !shaped || whole.len() > 18 || fraction.len() > 18 {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = 6 + exponent - i32::try_from(fraction.len()).ok()?;
    let scale = 10_u128.checked_pow(shift.unsigned_abs())?;
    let millionths = if shift >= 0 {
        digits.checked_mul(scale)?
    } else if digits.is_multiple_of(scale) {
        digits / scale
    } else {
        return None;
    };
    u64::try_from(millionths).ok().filter(|value| *value <= MAX_MILLIONTHS)
}
