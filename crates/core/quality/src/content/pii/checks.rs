//! What tells personal data from what only looks like it. Each check gives the end of what is really meant.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    ops::Range,
};

pub(super) fn email(text: &str, candidate: Range<usize>) -> Option<usize> {
    let (local, domain) = text.get(candidate.clone())?.split_once('@')?;
    let top = domain.rsplit('.').next()?;
    // A dash after the address is not its own.
    let trimmed = top.trim_end_matches('-');
    let good = !local.starts_with('.') && !local.ends_with('.') && trimmed.len() > 1;
    good.then_some(candidate.end - (top.len() - trimmed.len()))
}

/// The longest start that has as many digits as a number can have: other numbers may follow.
pub(super) fn phone(text: &str, candidate: Range<usize>) -> Option<usize> {
    let written = text.get(candidate.clone())?;
    if matches!(before(text, &candidate), Some('-' | '+' | '/' | '.')) {
        return None;
    }
    let is_digit = |at: usize| written.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let mut ends = (1..=written.len()).rev().filter(|end| is_digit(end - 1) && !is_digit(*end));
    let ends = ends.by_ref().filter(|end| {
        let number = written.get(..*end).unwrap_or_default();
        let digits = number.trim_start_matches("00").bytes().filter(u8::is_ascii_digit).count();
        (7..=15).contains(&digits) && number.matches('(').count() == number.matches(')').count()
    });
    let ends: Vec<_> = ends
        .map(|end| candidate.start + end)
        .filter(|end| stands_alone(text, &(candidate.start..*end)))
        .collect();
    // A dash after a number's end would join it to the next one, and digits in one row are a number by themselves.
    let row = candidate.start + length_of_row(written);
    let in_one_row = ends.iter().find(|end| **end == row);
    let apart = || ends.iter().find(|end| !is_joined(text, **end));
    in_one_row.or_else(apart).or_else(|| ends.first()).copied()
}

/// How far an international number goes without a separator.
fn length_of_row(written: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    match written.strip_prefix('+') {
        Some(rest) if digits(rest) >= 10 => digits(rest) + 1,
        None if written.starts_with("00") && digits(written) >= 12 => digits(written),
        _ => 0,
    }
}

fn is_joined(text: &str, end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    rest.strip_prefix(['-', '/', '.']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// ISO 13616: the country's length, and a remainder of 1 by 97 with the first four characters moved to the end and
/// letters read as 10 to 35.
pub(super) fn iban(text: &str, candidate: Range<usize>) -> Option<usize> {
    let written = text.get(candidate.clone())?;
    let length = iban_length(&written.get(..2)?.to_ascii_uppercase())?;
    let mut characters = written.char_indices().filter(|(_, c)| *c != ' ');
    let (last, _) = characters.clone().nth(length - 1)?;
    let end = candidate.start + last + 1;
    let number: Vec<u32> = characters.by_ref().take(length).filter_map(|(_, c)| c.to_digit(36)).collect();
    let (head, rest) = number.split_at_checked(4)?;
    let add = |sum: u32, digit: &u32| (sum * if *digit < 10 { 10 } else { 100 } + digit) % 97;
    let remainder = rest.iter().chain(head).fold(0, add);
    (remainder == 1 && stands_alone(text, &(candidate.start..end))).then_some(end)
}

/// Lengths by country, from the SWIFT IBAN registry.
fn iban_length(country: &str) -> Option<usize> {
    const LENGTHS: [(usize, &str); 18] = [
        (15, "NO"),
        (16, "BE"),
        (18, "DK FI FO GL NL SD FK"),
        (19, "MK SI"),
        (20, "AT BA EE KZ LT LU XK MN"),
        (21, "CH HR LI LV"),
        (22, "BG BH CR DE GB GE IE ME RS VA"),
        (23, "AE GI IL IQ TL SO OM"),
        (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
        (25, "LY PT ST"),
        (26, "IS TR"),
        (27, "BI DJ FR GR IT MC MR SM"),
        (28, "AL AZ BY CY DO GT HU LB NI PL SV"),
        (29, "BR EG PS QA UA"),
        (30, "JO KW MU YE"),
        (31, "MT SC"),
        (32, "LC"),
        (33, "RU"),
    ];
    let mut rows = LENGTHS.iter();
    rows.find(|(_, countries)| countries.split(' ').any(|known| known == country)).map(|(length, _)| *length)
}

/// The longest start of the digits that is a card's number: more digits may follow in another group.
pub(super) fn credit_card(text: &str, candidate: Range<usize>) -> Option<usize> {
    let written = text.get(candidate.clone())?;
    let digits: Vec<(usize, u32)> =
        written.char_indices().filter_map(|(at, c)| Some((at, c.to_digit(10)?))).collect();
    let ends = (13..=digits.len()).rev().filter_map(|length| {
        let number: Vec<u32> = digits.iter().take(length).map(|(_, digit)| *digit).collect();
        let end = candidate.start + digits.get(length - 1)?.0 + 1;
        (is_card(&number) && luhn(&number)).then_some(end)
    });
    ends.into_iter().find(|end| stands_alone(text, &(candidate.start..*end)))
}

/// Ranges of the networks: Visa, Mastercard, American Express, Discover, JCB, Diners, UnionPay, Maestro.
fn is_card(number: &[u32]) -> bool {
    let prefix = number.iter().take(4).fold(0, |prefix, digit| prefix * 10 + digit);
    match prefix {
        4000..=4999 => matches!(number.len(), 13 | 16 | 19),
        5100..=5599 | 2221..=2720 => number.len() == 16,
        3400..=3499 | 3700..=3799 => number.len() == 15,
        6011 | 6440..=6599 | 3528..=3589 | 6200..=6299 => (16..=19).contains(&number.len()),
        3000..=3059 | 3600..=3699 | 3800..=3999 => (14..=19).contains(&number.len()),
        5018 | 5020 | 5038 | 5893 | 6304 | 6759 | 6761..=6763 => (13..=19).contains(&number.len()),
        _ => false,
    }
}

fn luhn(number: &[u32]) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let digits = number.iter().rev().enumerate();
    digits.map(|(at, digit)| if at % 2 == 1 { doubled(*digit) } else { *digit }).sum::<u32>() % 10 == 0
}

pub(super) fn ip_address(text: &str, candidate: Range<usize>) -> Option<usize> {
    let written = text.get(candidate.clone())?;
    if !stands_alone(text, &candidate) || matches!(before(text, &candidate), Some('.' | ':')) {
        return None;
    }
    let good = match written.contains(':') {
        // `::` and `a::b` are words of programming languages.
        true => {
            let digits = written.bytes().filter(u8::is_ascii_hexdigit).count();
            digits >= 4
                && written.bytes().any(|byte| byte.is_ascii_digit())
                && written.parse::<Ipv6Addr>().is_ok()
        }
        false => written.parse::<Ipv4Addr>().is_ok(),
    };
    good.then_some(candidate.end)
}

/// Decree of 23 December 1976: odd places by a table, even ones by value, the sum by 26 is the last letter. Digits may
/// be letters for namesakes.
pub(super) fn codice_fiscale(text: &str, candidate: Range<usize>) -> Option<usize> {
    const ODD: [u32; 26] =
        [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
    let code: Vec<u32> = text
        .get(candidate.clone())?
        .bytes()
        .map(|byte| match byte.to_ascii_uppercase() {
            digit @ b'0'..=b'9' => u32::from(digit - b'0'),
            letter => u32::from(letter.saturating_sub(b'A')),
        })
        .collect();
    let (last, body) = code.split_last()?;
    let weigh = |(at, value): (usize, &u32)| match at % 2 {
        // Places are counted from one.
        0 => ODD.get(*value as usize).copied().unwrap_or_default(),
        _ => *value,
    };
    let sum: u32 = body.iter().enumerate().map(weigh).sum();
    (sum % 26 == *last && stands_alone(text, &candidate)).then_some(candidate.end)
}

/// Numbers that the Social Security Administration never gives out are none.
pub(super) fn us_ssn(text: &str, candidate: Range<usize>) -> Option<usize> {
    let written = text.get(candidate.clone())?;
    let mut groups = written.split(['-', ' ']);
    let (area, group, serial) = (groups.next()?, groups.next()?, groups.next()?);
    let given_out = area != "000" && area != "666" && group != "00" && serial != "0000";
    let longer =
        matches!(before(text, &candidate), Some('-')) || matches!(after(text, &candidate), Some('-'));
    (given_out && !longer && stands_alone(text, &candidate)).then_some(candidate.end)
}

/// Whether neither letters nor digits touch it.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let touches = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !touches(before(text, range)) && !touches(after(text, range))
}

fn before(text: &str, range: &Range<usize>) -> Option<char> {
    text.get(..range.start)?.chars().next_back()
}

fn after(text: &str, range: &Range<usize>) -> Option<char> {
    text.get(range.end..)?.chars().next()
}

#[cfg(test)]
mod tests;
