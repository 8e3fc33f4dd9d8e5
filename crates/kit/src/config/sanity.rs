//! Values that cannot be meant: two keys, a window smaller than its answers, a price a thousand times off.

use super::{
    BaseUrl, Config, KeySource, ModelConfig, OneOrMany, PriceConfig, PriceStepConfig, VendorConfig,
    check::{Findings, check_name},
    tree::{Cursor, Value},
};
use signalbox_pricing::{Day, Rate, parse_decimal};
use signalbox_types::{Capability, Tier};
use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

/// A price this many times off its peers is a slip of units: per token, per thousand, in cents.
const ABSURD_FACTOR: u64 = 1_000;
/// Fewer peers than this say nothing.
const ENOUGH_PEERS: usize = 3;
/// USD per million tokens beyond any model's price, in millionths.
const DEAREST: u64 = 10_000 * 1_000_000;

pub(super) fn check_vendor(name: &str, vendor: &VendorConfig, at: &Cursor<'_>, findings: &mut Findings) {
    if name.is_empty() || name.contains('/') || name.contains(char::is_whitespace) {
        findings.fault(at, "a vendor has a name without `/` and spaces");
    }
    check_name(name, at, findings);
    check_key_source(vendor.api_key.as_ref(), &at.key("api_key"), findings);
    if let Some(BaseUrl::Environment(names)) = &vendor.base_url {
        check_variables(&names.env, &at.key("base_url"), findings);
    }
    let timeouts = vendor.timeouts;
    for (part, value) in
        [("connect", timeouts.connect), ("first_byte", timeouts.first_byte), ("idle", timeouts.idle)]
    {
        if value > timeouts.total {
            findings.fault(
                &at.key("timeouts").key(part),
                format!("{value} is longer than `total`, {}", timeouts.total),
            );
        }
    }
}

pub(super) fn check_key_source(source: Option<&KeySource>, at: &Cursor<'_>, findings: &mut Findings) {
    match source {
        Some(KeySource { env: Some(_), file: Some(_) }) => {
            findings.fault(at, "give either `env` or `file`, not both");
        }
        Some(KeySource { env: None, file: None }) => findings.fault(at, "needs `env` or `file`"),
        Some(KeySource { env: Some(names), file: None }) => check_variables(names, at, findings),
        Some(KeySource { env: None, file: Some(_) }) | None => {}
    }
}

/// A file of SQLite, which is made where it is missing.
pub(super) fn check_file(path: Option<&PathBuf>, at: &Cursor<'_>, findings: &mut Findings) {
    let Some(path) = path else { return };
    check_path(path, at, findings);
    if path.is_dir() {
        findings.fault(at, format!("{} is a folder; name a file in it", path.display()));
    }
}

/// A folder, which is made where it is missing.
pub(super) fn check_folder(path: Option<&PathBuf>, at: &Cursor<'_>, findings: &mut Findings) {
    let Some(path) = path else { return };
    check_path(path, at, findings);
    if path.is_file() {
        findings.fault(at, format!("{} is a file, and must be a folder", path.display()));
    }
}

/// What outlives the process: SQLite takes an empty name, `:memory:` and addresses for other things.
fn check_path(path: &Path, at: &Cursor<'_>, findings: &mut Findings) {
    let path = path.to_string_lossy();
    let is_path = !path.trim().is_empty() && !path.starts_with(':') && !path.starts_with("file:");
    if !is_path || path.contains(['?', '#', '\0']) {
        findings.fault(at, format!("`{path}` is not the path of something on the disk"));
    }
}

/// A key in the place of a variable's name would be repeated in warnings, so names are checked and not repeated.
pub(super) fn check_variables(names: &OneOrMany<String>, at: &Cursor<'_>, findings: &mut Findings) {
    let is_name = |name: &String| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    if names.as_slice().is_empty() || !names.as_slice().iter().all(is_name) {
        let message = "must be the name of an environment variable (A-Z, 0-9 and _), not its value";
        findings.fault(&at.key("env"), message);
    }
}

pub(super) fn check_model(
    name: &str,
    model: &ModelConfig,
    peers: &PricePeers,
    today: Day,
    at: &Cursor<'_>,
    findings: &mut Findings,
) {
    if model.capabilities.is_empty() {
        findings.fault(&at.key("capabilities"), "is empty: nothing could be asked of it");
    }
    if let Some(output) = model.max_output_tokens.filter(|output| *output > model.context_window) {
        let message = format!("{output} is more than its context window of {}", model.context_window);
        findings.fault(&at.key("max_output_tokens"), message);
    }
    if model.max_output_tokens == Some(0) && model.capabilities.contains(&Capability::Text) {
        findings
            .fault(&at.key("max_output_tokens"), "0 leaves no room for an answer; only embeddings have none");
    }
    let rows = model.prices.as_ref().map(OneOrMany::as_slice).unwrap_or_default();
    let mut starts = HashSet::new();
    for (index, row) in rows.iter().enumerate() {
        let at = at.key("prices").index(index);
        if !starts.insert(row.from) {
            findings.fault(&at, "a second row with the same `from`");
        }
        check_row(row, &at, findings);
        peers.check(name, model, row, &at, findings);
    }
    check_today(rows, today, &at.key("prices"), findings);
}

/// A list replaces the built-in one, so a row for later alone leaves today without a price.
fn check_today(rows: &[PriceConfig], today: Day, at: &Cursor<'_>, findings: &mut Findings) {
    let starts: Option<Vec<_>> = rows.iter().map(|row| row.from.map(|from| from.0)).collect();
    if let Some(first) = starts.and_then(|starts| starts.into_iter().min()).filter(|first| *first > today) {
        let message = format!(
            "has no row before {first}: what calls cost until then is not known; a list here replaces the built-in one \
             whole, so repeat its rows"
        );
        findings.warn(at, message);
    }
}

fn check_row(row: &PriceConfig, at: &Cursor<'_>, findings: &mut Findings) {
    if row.batch_discount.is_some_and(|discount| discount.0 > 1_000_000) {
        findings.fault(&at.key("batch_discount"), "is a share of the price from 0 to 1: 0.5 is half price");
    }
    let mut thresholds = HashSet::new();
    for (index, step) in row.steps.iter().enumerate() {
        let at = at.key("steps").index(index);
        match (step.above, step.at_or_above) {
            (Some(threshold), None) | (None, Some(threshold)) => {
                if !thresholds.insert(threshold) {
                    findings.fault(&at, "a second step with the same threshold");
                }
            }
            _ => findings.fault(&at, "needs exactly one of `above` and `at_or_above`"),
        }
    }
}

/// What the models of a vendor and of the whole catalogue usually cost, and what the built-in catalogue says.
pub(super) struct PricePeers {
    groups: BTreeMap<Group, Vec<u64>>,
    built_in: BTreeMap<String, u64>,
}

/// Models whose prices are comparable: of one vendor and tier, of one vendor, all of a kind.
type Group = (Option<String>, Option<&'static str>, bool);

impl PricePeers {
    pub(super) fn of(config: &Config, built_in: &Cursor<'_>) -> Self {
        let mut groups: BTreeMap<Group, Vec<u64>> = BTreeMap::new();
        let mut known = BTreeMap::new();
        for (name, model) in &config.models {
            if let Some(price) = built_in_price(name, built_in) {
                known.insert(name.clone(), price);
            }
            let first = model.prices.as_ref().and_then(|rows| rows.as_slice().first());
            if let Some(price) = first.map(|row| row.input.0).filter(|price| *price > 0) {
                for group in groups_of(name, model) {
                    groups.entry(group).or_default().push(price);
                }
            }
        }
        groups.values_mut().for_each(|prices| prices.sort_unstable());
        Self { groups, built_in: known }
    }

    fn check(
        &self,
        name: &str,
        model: &ModelConfig,
        row: &PriceConfig,
        at: &Cursor<'_>,
        findings: &mut Findings,
    ) {
        let usual = self.usual(name, model);
        let steps = row
            .steps
            .iter()
            .enumerate()
            .flat_map(|(index, step)| step_prices(step, &at.key("steps").index(index)));
        for (at, price) in row_prices(row, at).into_iter().chain(steps) {
            let off =
                |usual: u64| price > 0 && (price / usual >= ABSURD_FACTOR || usual / price >= ABSURD_FACTOR);
            let shown = Rate::from_pico_usd(price);
            match usual.filter(|usual| off(*usual)) {
                Some(usual) => findings.fault(&at, format!(
                    "{shown} USD per million tokens is a thousand times off comparable models (about {}); \
                     prices are per million tokens, not per token or per thousand",
                    Rate::from_pico_usd(usual),
                )),
                None if price > DEAREST => findings.fault(&at, format!("{shown} USD per million tokens is more than any model costs")),
                None => {}
            }
        }
    }

    /// What such a model usually costs.
    fn usual(&self, name: &str, model: &ModelConfig) -> Option<u64> {
        if let Some(price) = self.built_in.get(name) {
            return Some(*price);
        }
        // The model's own price is among its peers, so a lone one needs others to be compared with.
        let enough = |prices: &&Vec<u64>| prices.len() > ENOUGH_PEERS;
        let peers =
            groups_of(name, model).into_iter().find_map(|group| self.groups.get(&group).filter(enough))?;
        peers.get(peers.len() / 2).copied()
    }
}

/// From the closest peers to the widest.
fn groups_of(name: &str, model: &ModelConfig) -> [Group; 3] {
    let vendor = name.split('/').next().unwrap_or_default().to_owned();
    let embeds = model.capabilities.contains(&Capability::Embeddings);
    let tier = model.tier.map(|tier| match tier {
        Tier::Premium => "premium",
        Tier::Standard => "standard",
        Tier::Economy => "economy",
    });
    [(Some(vendor.clone()), tier, embeds), (Some(vendor), Some("any"), embeds), (None, Some("any"), embeds)]
}

fn built_in_price(name: &str, built_in: &Cursor<'_>) -> Option<u64> {
    let input = built_in.key("models").key(name).key("prices").index(0).key("input");
    match input.node.map(|node| &node.value) {
        Some(Value::Scalar(text)) => parse_decimal(text).ok().filter(|price| *price > 0),
        _ => None,
    }
}

/// Cache rates are left out: they are a fraction of the input rate, and some are a hundredth of it.
fn row_prices<'a>(row: &PriceConfig, at: &Cursor<'a>) -> Vec<(Cursor<'a>, u64)> {
    vec![(at.key("input"), row.input.0), (at.key("output"), row.output.0)]
}

fn step_prices<'a>(step: &PriceStepConfig, at: &Cursor<'a>) -> Vec<(Cursor<'a>, u64)> {
    vec![(at.key("input"), step.input.0), (at.key("output"), step.output.0)]
}
