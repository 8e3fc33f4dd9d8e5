//! What the chart renders is what was last looked at by a person.
//!
//! `SIGNALBOX_BLESS=1 cargo nextest run -p signalbox-deploy chart::` writes what is rendered now. Look at the difference before
//! you commit it, and run the tests again: the others read what this one wrote.

use super::manifests::{Faults, GOLDEN, files, stem};
use signalbox_deploy::{documents, helm::Helm};
use signalbox_testkit::workspace;
use std::{fs, path::Path};

/// Whether files that are made from others are to be written anew.
pub(crate) fn bless() -> bool {
    std::env::var_os("SIGNALBOX_BLESS").is_some()
}

/// Compares a file with what it should be, or writes it.
pub(crate) fn agree(path: &Path, wanted: &str, same: impl Fn(&str, &str) -> bool) -> Result<(), String> {
    if bless() {
        return fs::write(path, wanted).map_err(|error| format!("{}: {error}", path.display()));
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    match same(&found, wanted) {
        true => Ok(()),
        false => Err(format!("{} is not what it is made from; see SIGNALBOX_BLESS", path.display())),
    }
}

/// Rules and dashboards are others' work, and [`documents`](super::documents) compares them.
const WITHOUT: [&str; 2] = ["--set", "prometheusRule.enabled=false,grafanaDashboards.enabled=false"];

/// Both helms at once, since either would be slow twice. Texts differ in blank lines, so what is compared is what they say.
#[test]
fn both_helms_render_what_was_looked_at() {
    let mut faults = Faults::default();
    let folder = workspace().join(GOLDEN);
    for file in files() {
        let name = stem(&file);
        let [three, four] = Helm::BOTH.map(|helm| helm.template(&[&file], &WITHOUT).unwrap());
        faults.unless(documents(&three) == documents(&four), || format!("{name}: the two helms differ"));
        let golden = folder.join(format!("{name}.yaml"));
        let same = |found: &str, wanted: &str| documents(found) == documents(wanted);
        faults
            .unless(agree(&golden, &four, same).is_ok(), || format!("{name}: renders otherwise than before"));
    }
    faults.assert_none();
}
