//! Measures what matching by meaning serves, and writes tables and a picture.
//!
//! `eval-cache [ROOT]` writes into `docs/` where ROOT is given as the repository's root; without one it prints.

use signalbox_cache_eval::{
    encoders::{self, Server},
    generated,
    measure::{Seen, THRESHOLDS},
    picture, report,
    sets::{self, Pair},
};
use std::{
    env,
    error::Error,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

const BEGIN: &str = "<!-- eval-cache:begin -->\n";
const END: &str = "<!-- eval-cache:end -->";

const MULTILINGUAL: &str = "use-multilingual";
const ENGLISH: &str = "minilm";
const GENERATED: &str = "generated";

fn main() -> Result<(), Box<dyn Error>> {
    let given = env::args_os().nth(1).map(PathBuf::from);
    let root = given.clone().unwrap_or_else(|| PathBuf::from("."));
    let pairs = sets::read(&root.join("tests/fixtures/semcache/pairs.jsonl"), 2)?;
    let questions = sets::read(&questions(&root)?, 1)?;
    let generated = generated::pairs();
    let seen = measured(&Server::start(&root)?, &pairs, &questions, &generated)?;
    let tables = tables(&seen);
    let Some(root) = given else { return Ok(io::stdout().write_all(tables.as_bytes())?) };
    let docs = root.join("docs");
    let page = docs.join("cache.md");
    let text = fs::read_to_string(&page)?;
    let (head, rest) = text.split_once(BEGIN).ok_or("docs/cache.md has no place for the tables")?;
    let (_, tail) = rest.split_once(END).ok_or("docs/cache.md has no end of the tables")?;
    fs::write(&page, format!("{head}{BEGIN}{tables}{END}{tail}"))?;
    fs::create_dir_all(docs.join("pictures"))?;
    Ok(fs::write(docs.join("pictures/cache-precision.svg"), picture::svg(seen.get(..4).unwrap_or_default()))?)
}

/// The questions of fow-cache, inside its package.
fn questions(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let lib = root.join(".tools/embedder/lib");
    let python = fs::read_dir(&lib).map_err(|_| "`tools/install.sh embedder` installs what this needs")?;
    let file = |folder: io::Result<fs::DirEntry>| {
        Some(folder.ok()?.path().join("site-packages/fow_cache/data/pairs.jsonl"))
    };
    Ok(python.filter_map(file).find(|file| file.exists()).ok_or("fow-cache is not installed")?)
}

fn measured<'a>(
    server: &Server,
    pairs: &'a [Pair],
    questions: &'a [Pair],
    generated: &'a [Pair],
) -> Result<Vec<Seen<'a>>, Box<dyn Error>> {
    Ok(vec![
        Seen::new("pairs", MULTILINGUAL, 0.01, pairs, &server.similarities(MULTILINGUAL, pairs)?),
        Seen::new("pairs", ENGLISH, 0.01, pairs, &server.similarities(ENGLISH, pairs)?),
        Seen::new("fow-cache", ENGLISH, 0.015, questions, &server.similarities(ENGLISH, questions)?),
        Seen::new(
            "fow-cache",
            MULTILINGUAL,
            0.015,
            questions,
            &server.similarities(MULTILINGUAL, questions)?,
        ),
        Seen::new("pairs", "hashed-ngrams-512", 0.01, pairs, &encoders::builtin(pairs)),
        Seen::new("fow-cache", "hashed-ngrams-512", 0.015, questions, &encoders::builtin(questions)),
        Seen::new(GENERATED, MULTILINGUAL, 0.0, generated, &server.similarities(MULTILINGUAL, generated)?),
    ])
}

fn tables(seen: &[Seen<'_>]) -> String {
    let (generated, measured): (Vec<_>, Vec<_>) = seen.iter().partition(|seen| seen.set == GENERATED);
    let mut text = report::operating_points(&measured);
    text.push_str("\nAt fixed thresholds, both halves:\n\n");
    text.push_str(&report::thresholds(&measured));
    for seen in measured
        .iter()
        .filter(|seen| matches!((seen.set, seen.encoder), ("pairs", MULTILINGUAL) | ("fow-cache", ENGLISH)))
    {
        if let Some(threshold) = seen.operating_point(true) {
            kinds(&mut text, seen, threshold);
        }
    }
    // At the lowest threshold there is, so that it is the guards that refuse.
    generated.iter().for_each(|seen| kinds(&mut text, seen, *THRESHOLDS.start()));
    text
}

fn kinds(text: &mut String, seen: &Seen<'_>, threshold: u8) {
    let (set, encoder, threshold_shown) = (seen.set, seen.encoder, f64::from(threshold) / 100.0);
    text.push_str(&format!(
        "\nServed of each kind of `{set}` with {encoder} at {threshold_shown:.2}, without guards → with guards:\n\n"
    ));
    text.push_str(&report::kinds(seen, threshold));
}
