//! Reads a lexicon's text, line by line.

use super::{Apostrophe, Kind, Lexicon, Meaning, Script};

/// What the lines of a section are.
#[derive(Clone, Copy)]
enum Section {
    /// `name = value`.
    Settings,
    /// Forms separated by commas, all with the same meaning.
    Bare(Kind),
    /// `key = form, form`.
    Keyed(Kind),
    /// `class = class, class`: classes that turn a text against each other; `-` is none.
    Opposed,
    /// Words that a sentence begins with, separated by commas.
    Openings,
    /// Endings that one stem takes, separated by commas; `-` for none. `5: ` in front asks for a longer stem.
    Words,
    /// The same for names.
    Names,
}

/// Adds all of it, or names the line that cannot be read.
pub(super) fn read(lexicon: &mut Lexicon, text: &str) -> Result<(), (usize, String)> {
    let mut section = Section::Settings;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let done = match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => self::section(name).map(|found| section = found),
            None => entry(lexicon, section, line),
        };
        done.map_err(|problem| (number + 1, problem))?;
    }
    Ok(())
}

fn section(name: &str) -> Result<Section, String> {
    use Section::{Bare, Keyed, Names, Openings, Opposed, Settings, Words};
    Ok(match name {
        "settings" => Settings,
        "drop" => Bare(Kind::Drop),
        "polite" => Bare(Kind::Polite),
        "negation" => Bare(Kind::Negation),
        "number" => Keyed(Kind::Number),
        "ordinal" => Keyed(Kind::Ordinal),
        "month" => Keyed(Kind::Month),
        "weekday" => Keyed(Kind::Weekday),
        "relative" => Keyed(Kind::Relative),
        "bound" => Keyed(Kind::Bound),
        "period" => Keyed(Kind::Period),
        "date mark" => Keyed(Kind::DateMark),
        "meridiem" => Keyed(Kind::Meridiem),
        "unit" => Keyed(Kind::Unit),
        "comparator" => Keyed(Kind::Comparator),
        "language" => Keyed(Kind::Language),
        "tone" => Keyed(Kind::Tone),
        "scope" => Keyed(Kind::Scope),
        "question" => Keyed(Kind::Question),
        "turn" => Keyed(Kind::Turn),
        "opposed" => Opposed,
        "opening" => Openings,
        "relation" => Keyed(Kind::Relation),
        "word" => Keyed(Kind::Word),
        "numbered" => Keyed(Kind::Numbered),
        "words" => Words,
        "names" => Names,
        _ => return Err(format!("there is no section `{name}`")),
    })
}

fn entry(lexicon: &mut Lexicon, section: Section, line: &str) -> Result<(), String> {
    match section {
        Section::Settings => setting(lexicon, line),
        Section::Bare(kind) => forms(lexicon, kind, "", line),
        Section::Keyed(kind) => {
            let (key, rest) = line.split_once('=').ok_or("expected `key = form, form`")?;
            forms(lexicon, kind, key.trim(), rest)
        }
        Section::Opposed => {
            let (class, others) = line.split_once('=').ok_or("expected `class = class, class`")?;
            others.split(',').try_for_each(|other| lexicon.oppose(class.trim(), other.trim()))
        }
        Section::Openings => {
            lexicon.openings.extend(line.split(',').map(|word| word.trim().to_lowercase().into()));
            Ok(())
        }
        Section::Words => lexicon.words.add(line),
        Section::Names => lexicon.names.add(line),
    }
}

fn forms(lexicon: &mut Lexicon, kind: Kind, key: &str, forms: &str) -> Result<(), String> {
    if matches!(kind, Kind::Number | Kind::Ordinal | Kind::Month | Kind::Weekday)
        && key.parse::<u64>().is_err()
    {
        return Err(format!("`{key}` is not a number"));
    }
    let meaning = Meaning { kind, key: key.into() };
    forms.split(',').map(str::trim).try_for_each(|form| lexicon.insert(form, meaning.clone()))
}

fn setting(lexicon: &mut Lexicon, line: &str) -> Result<(), String> {
    let (name, value) = line.split_once('=').ok_or("expected `name = value`")?;
    match (name.trim(), value.trim()) {
        ("script", "latin") => lexicon.script = Script::Latin,
        ("script", "cyrillic") => lexicon.script = Script::Cyrillic,
        ("script", "han") => lexicon.script = Script::Han,
        ("apostrophe", "letter") => lexicon.apostrophe = Apostrophe::Letter,
        ("apostrophe", "elision") => lexicon.apostrophe = Apostrophe::Elision,
        ("apostrophe", "contraction") => lexicon.apostrophe = Apostrophe::Contraction,
        ("decimal", "comma") => lexicon.decimal_comma = true,
        ("decimal", "point") => lexicon.decimal_comma = false,
        (name, value) => return Err(format!("there is no setting `{name} = {value}`")),
    }
    Ok(())
}
