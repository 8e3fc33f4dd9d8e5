//! Amounts of money as people type them.

use signalbox_types::Money;

/// Decimals of a euro down to the smallest amount there is.
const DECIMALS: usize = 9;

/// An amount in euros, as in `250`, `0.5` or `0.000000001`, as nano-EUR, exactly.
pub(super) fn euros(text: &str) -> Result<i64, String> {
    let problem = || format!("`{text}` is no amount in euros as in 250 or 0.5");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Err(problem());
    }
    if fraction.len() > DECIMALS {
        return Err(format!("`{text}` has more than {DECIMALS} decimals, and there is nothing smaller"));
    }
    // All digits of the amount in its smallest unit.
    let nanos = format!("{whole}{fraction:0<DECIMALS$}");
    nanos.parse().map_err(|_| format!("`{text}` is more than can be counted, €{}", i64::MAX / 1_000_000_000))
}

/// An amount as people read it, as in `€12.50`.
pub(super) fn shown(nano_eur: i64) -> String {
    Money::from_nano_eur(nano_eur).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_to_the_last_decimal() {
        assert_eq!(euros("250"), Ok(250_000_000_000));
        assert_eq!(euros("0.5"), Ok(500_000_000));
        assert_eq!(euros("0.000000001"), Ok(1));
        assert_eq!(euros("1.000000001"), Ok(1_000_000_001));
        assert_eq!(euros("0.1").map(|tenth| tenth * 3), euros("0.3"));
        assert_eq!(euros("9223372036.854775807"), Ok(i64::MAX));
        assert_eq!(shown(euros("12.5").unwrap()), "€12.50");
    }

    #[test]
    fn what_is_no_amount_is_said_so() {
        for text in
            ["", ".", "1.", ".5", "-1", "+1", "1,5", "1e3", "€5", "five", "0x1", "1.2.3", " 1", "1_000"]
        {
            let problem = euros(text).unwrap_err();
            assert!(problem.contains("is no amount in euros as in 250 or 0.5"), "{problem}");
        }
        assert!(euros("0.0000000001").unwrap_err().contains("more than 9 decimals"));
        assert!(euros("9223372036.854775808").unwrap_err().contains("more than can be counted"));
    }
}
