//! Shows what the guards say to each pair of a file: `guards FILE [TOGETHER]`. For work on the lexicons; of the held-out
//! half it shows counts alone.
#![expect(clippy::print_stdout, reason = "what it shows is its output")]

use signalbox_cache_eval::sets::{self, Half};
use signalbox_guards::Guards;
use std::{collections::BTreeMap, env, error::Error, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which file?")?);
    let together = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let all = arguments.next().is_some();
    let guards = Guards::builtin();
    let mut counts: BTreeMap<(String, String, bool), (usize, usize)> = BTreeMap::new();
    for pair in sets::read(&path, together)? {
        let refusals = guards.differences(&pair.stored, &pair.asked, &pair.language);
        let development = pair.half == Half::Development;
        let key = (pair.language.clone(), pair.kind.clone(), development);
        let (served, of) = counts.entry(key).or_default();
        *of += 1;
        *served += usize::from(refusals.is_empty());
        if (development || all) && pair.same != refusals.is_empty() {
            println!("{} {}\n  {}\n  {}", if pair.same { "missed" } else { "WRONG" }, pair.kind, pair.stored, pair.asked);
            refusals.iter().for_each(|refusal| println!("    {refusal}"));
        }
    }
    for ((language, kind, development), (served, of)) in counts {
        println!("{language} {kind} {}: {served} of {of}", if development { "development" } else { "held out" });
    }
    Ok(())
}
