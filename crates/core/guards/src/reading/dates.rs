//! Days, months and years next to each other become one date.

use super::Term;
use crate::lexicon::Kind;

/// Turns months, weekdays, relative days and the numbers at their side into dates.
pub(super) fn combine(terms: &mut Vec<Term>) {
    times(terms);
    let atoms: Vec<Option<String>> = (0..terms.len()).map(|at| atom(terms, at)).collect();
    for (term, atom) in terms.iter_mut().zip(atoms) {
        if let Some(key) = atom {
            (term.kind, term.key) = (Kind::Date, key);
        }
    }
    // What a mark or "year" at a number says, the number says now.
    for at in 0..terms.len() {
        let is_year = |term: &Term| term.kind == Kind::Date && term.key.starts_with('y');
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
        let year = beside.filter_map(|at| terms.get(at)).any(is_year);
        if year && terms[at].kind == Kind::Period && terms[at].key == "year" {
            terms[at].kind = Kind::Drop;
        }
    }
    for at in 0..terms.len() {
        if terms[at].kind == Kind::DateMark {
            let taken = at > 0 && terms[at - 1].kind == Kind::Date && terms[at - 1].until == terms[at].from;
            terms[at].kind = if taken { Kind::Drop } else { Kind::Word };
        }
    }
    merge(terms);
}

/// What a term says as part of a date.
fn atom(terms: &[Term], at: usize) -> Option<String> {
    let term = terms.get(at)?;
    let before = || neighbour(terms, at, |at| at.checked_sub(1));
    let after = || neighbour(terms, at, |at| Some(at + 1));
    let beside = |fits: fn(&Term) -> bool| before().is_some_and(fits) || after().is_some_and(fits);
    match term.kind {
        Kind::Date => Some(term.key.clone()),
        Kind::Month => Some(format!("m{}", term.key)),
        Kind::Weekday => Some(format!("w{}", term.key)),
        Kind::Relative => Some(format!("r{}", term.key)),
        Kind::Bound if beside(|term| matches!(term.kind, Kind::Period | Kind::Weekday | Kind::Month)) => {
            Some(format!("b{}", term.key))
        }
        Kind::Period if beside(|term| term.kind == Kind::Bound) => Some(format!("p{}", term.key)),
        Kind::Number => number_atom(term, terms.get(at + 1), beside(|term| term.kind == Kind::Month)),
        _ => None,
    }
}

fn number_atom(term: &Term, next: Option<&Term>, beside_month: bool) -> Option<String> {
    if let Some(mark) = next.filter(|next| next.kind == Kind::DateMark && next.from == term.until) {
        return Some(format!("{}{}", mark.key, term.key));
    }
    let digits = term.key.trim_start_matches('#');
    let value: u32 = digits.parse().ok()?;
    let year = digits.len() == 4 && (1000..=2199).contains(&value) && !term.listed;
    match beside_month {
        true if (1..=31).contains(&value) => Some(format!("d{value}")),
        _ if year => Some(format!("y{value}")),
        _ => None,
    }
}

/// The next term in a direction that is not mere grammar.
fn neighbour(terms: &[Term], mut at: usize, step: impl Fn(usize) -> Option<usize>) -> Option<&Term> {
    loop {
        at = step(at)?;
        let term = terms.get(at)?;
        if !matches!(term.kind, Kind::Drop | Kind::Turn) {
            return Some(term);
        }
    }
}

/// Dates with nothing but grammar between them are one, as long as it has each part once: "5 March 2024" is one date,
/// "5 March 6 April" are two. The order inside it does not matter, that of two dates does.
fn merge(terms: &mut Vec<Term>) {
    let mut at = 0;
    while at < terms.len() {
        let next = (at + 1..terms.len()).find(|next| !matches!(terms[*next].kind, Kind::Drop | Kind::Turn));
        let is_date = |at: usize| terms[at].kind == Kind::Date;
        let joins = |next: &usize| is_date(*next) && !share_a_part(&terms[at].key, &terms[*next].key);
        match next.filter(joins).filter(|_| is_date(at)) {
            Some(next) => {
                let other = terms.remove(next);
                let both = format!("{} {}", terms[at].key, other.key);
                let mut atoms: Vec<&str> = both.split(' ').collect();
                atoms.sort_unstable();
                (terms[at].key, terms[at].until) = (atoms.join(" "), other.until);
            }
            None => at += 1,
        }
    }
}

/// Whether both have a year, a month, a day and so on: an atom's first letter is what it is.
fn share_a_part(one: &str, other: &str) -> bool {
    let parts = |date: &'_ str| date.split(' ').filter_map(|atom| atom.chars().next()).collect::<Vec<_>>();
    let other = parts(other);
    parts(one).iter().any(|part| other.contains(part))
}

/// "7 pm" and "19:00" become the same minute.
fn times(terms: &mut Vec<Term>) {
    let mut at = 0;
    while at < terms.len() {
        if terms[at].kind == Kind::Meridiem {
            let half = terms[at].key.clone();
            let time = [at.checked_sub(1), Some(at + 1)]
                .into_iter()
                .flatten()
                .find_map(|beside| minute(terms.get(beside)?, &half).map(|minute| (beside, minute)));
            if let Some((beside, minute)) = time {
                (terms[beside].kind, terms[beside].key) = (Kind::Date, format!("t{minute}"));
                terms.remove(at);
                continue;
            }
            terms[at].kind = Kind::Relative;
        } else if terms[at].kind == Kind::Unit && terms[at].key == "point" && at > 0 {
            // No decimal point, so 九点 is a time.
            if let Some(minute) = minute(&terms[at - 1], "") {
                (terms[at - 1].kind, terms[at - 1].key) = (Kind::Date, format!("t{minute}"));
                terms.remove(at);
                continue;
            }
        }
        at += 1;
    }
}

fn minute(term: &Term, half: &str) -> Option<u32> {
    let minute = match term.kind {
        Kind::Number => term.key.parse::<u32>().ok().filter(|hour| *hour <= 24)? * 60,
        Kind::Date => term.key.strip_prefix('t')?.parse().ok()?,
        _ => return None,
    };
    Some(match half {
        "am" if minute / 60 == 12 => minute - 720,
        "pm" if minute / 60 < 12 => minute + 720,
        _ => minute % 1440,
    })
}

/// What belongs to no date after all, and comparators without a number: "under the warranty".
pub(super) fn settle(terms: &mut [Term]) {
    for at in 0..terms.len() {
        let compares = || {
            neighbour(terms, at, |at| Some(at + 1))
                .is_some_and(|term| matches!(term.kind, Kind::Number | Kind::Date))
        };
        let follows = || {
            neighbour(terms, at, |at| at.checked_sub(1))
                .is_some_and(|term| matches!(term.kind, Kind::Number | Kind::Date))
        };
        let loose = terms[at].kind == Kind::Comparator && !compares() && !follows();
        let term = &mut terms[at];
        term.kind = match term.kind {
            Kind::Comparator if loose && term.key == "about" => Kind::Drop,
            Kind::Comparator if loose => Kind::Scope,
            // "this" points, and means nothing by itself.
            Kind::Bound if term.key == "this" => Kind::Drop,
            Kind::Bound => Kind::Scope,
            kind => kind,
        };
    }
}
