//! Numbers, times and dates in digits.

use super::Shape;

/// What digits and their separators are; `None` where it is something else.
pub(super) fn read(text: &str, decimal_comma: bool) -> Option<(Shape, String)> {
    let digits = |letter: char| letter.is_ascii_digit();
    let (first, last) = (text.chars().next()?, text.chars().next_back()?);
    if !digits(first)
        || !digits(last)
        || !text.chars().all(|letter| digits(letter) || ".,:-/'".contains(letter))
    {
        return None;
    }
    if text.contains(':') {
        return Some(match time(text) {
            Some(minute) => (Shape::Time, minute.to_string()),
            None => (Shape::Code, text.to_owned()),
        });
    }
    if let Some(date) = iso_date(text) {
        return Some((Shape::Date, date));
    }
    Some(match decimal(text, decimal_comma) {
        Some(number) => (Shape::Number, number),
        // 05/03/2024 is read differently here and there: equal only to itself.
        None => (Shape::Code, text.to_owned()),
    })
}

/// A number without grouping and with a point. Zeros stay: 3.10 may be a version, and 007 a name.
fn decimal(text: &str, comma: bool) -> Option<String> {
    let (point, group) = if comma { (',', '.') } else { ('.', ',') };
    let (whole, fraction) = match text.rsplit_once(point) {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let mut groups = whole.split(['\'', group]);
    let mut number = groups.next()?.to_owned();
    for group in groups {
        if group.len() != 3 {
            return other_decimal(text);
        }
        number.push_str(group);
    }
    if !(number.chars().all(|letter| letter.is_ascii_digit())
        && fraction.chars().all(|letter| letter.is_ascii_digit()))
    {
        return None;
    }
    Some(canonical(&number, fraction))
}

/// One separator that cannot group, as "7.2" where decimals have a comma: nobody means anything else.
fn other_decimal(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once(['.', ','])?;
    let digits = |part: &str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
    (digits(whole) && digits(fraction)).then(|| canonical(whole, fraction))
}

fn canonical(whole: &str, fraction: &str) -> String {
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

fn time(text: &str) -> Option<u32> {
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute): (u32, u32) =
        (hour.parse().ok()?, (minute.len() == 2).then_some(minute)?.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn iso_date(text: &str) -> Option<String> {
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let (month, day): (u32, u32) = (month.parse().ok()?, day.parse().ok()?);
    Some(format!("d{day} m{month} y{year}"))
}
