//! The file's section about the order in which candidates are tried.

use super::{Origin, check::Findings, tree::Cursor, values::HumanDuration, words};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;
use signalbox_routing::{Preset, Rules, Selection, Weights};
use std::borrow::Cow;

/// Which candidate is tried first. In a task type it takes the place of the whole top-level section.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingConfig {
    /// Where the order comes from. The other fields are about `scored`.
    pub order: OrderConfig,
    /// What counts how much, by name; `balanced` where left out. Give either this or `weights`.
    #[serde(deserialize_with = "words::read_preset")]
    #[schemars(schema_with = "words::preset")]
    pub preset: Option<Preset>,
    /// What counts how much, in numbers.
    pub weights: Option<WeightsConfig>,
    /// How clearly better scores are preferred: 0 draws blindly, 4 prefers clearly, 50 nearly always takes the best,
    /// and the word `best` always does.
    pub greed: Greed,
    /// Least probability that each healthy candidate is drawn, so that a better one is noticed.
    #[schemars(range(min = 0, max = 0.5))]
    pub explore: f64,
    /// How long an answer should take; the longer it takes, the lower the score.
    pub target: HumanDuration,
    /// Answer tokens to reckon with where nothing is known of a task's answers yet.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub expected_tokens: u32,
}

impl Default for RoutingConfig {
    fn default() -> Self {
        Self {
            order: OrderConfig::default(),
            preset: None,
            weights: None,
            greed: Greed::default(),
            explore: 0.01,
            target: HumanDuration::secs(10),
            expected_tokens: 256,
        }
    }
}

/// Where the order of the candidates comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderConfig {
    /// What they cost, how fast, healthy and good they are, and how much of the vendor's quota is left.
    #[default]
    Scored,
    /// The targets' own order.
    Listed,
}

/// What counts how much. Only the proportions matter; what is left out does not count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WeightsConfig {
    /// What the request is expected to cost.
    #[schemars(range(min = 0, max = 1_000))]
    pub cost: f64,
    /// How soon the answer is expected.
    #[schemars(range(min = 0, max = 1_000))]
    pub latency: f64,
    /// How often calls succeeded of late.
    #[schemars(range(min = 0, max = 1_000))]
    pub health: f64,
    /// How often answers were good.
    #[schemars(range(min = 0, max = 1_000))]
    pub quality: f64,
    /// How much of the vendor's quota is left.
    #[schemars(range(min = 0, max = 1_000))]
    pub quota: f64,
}

impl From<WeightsConfig> for Weights {
    fn from(config: WeightsConfig) -> Self {
        let WeightsConfig { cost, latency, health, quality, quota } = config;
        Self { cost, latency, health, quality, quota }
    }
}

impl RoutingConfig {
    /// How candidates are compared.
    pub fn rules(&self) -> Rules {
        match self.order {
            OrderConfig::Listed => Rules::CATALOGUE_ORDER,
            OrderConfig::Scored => Rules { weights: self.weights(), selection: self.selection() },
        }
    }

    fn weights(&self) -> Weights {
        self.weights.map_or_else(|| self.preset.unwrap_or_default().weights(), Weights::from)
    }

    fn selection(&self) -> Selection {
        match self.greed {
            Greed::Best => Selection::Best,
            Greed::Kappa(kappa) => Selection::Draw { kappa, explore: self.explore },
        }
    }
}

/// How clearly better scores are preferred: a number from 0 to 1000, or the word `best`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Greed {
    /// The exponent of the score in the draw.
    Kappa(f64),
    /// Nothing is drawn: the best score is first.
    Best,
}

impl Default for Greed {
    fn default() -> Self {
        Self::Kappa(4.0)
    }
}

const GREEDIEST: f64 = 1_000.0;

impl Greed {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if text == "best" {
            return Ok(Self::Best);
        }
        let kappa = text.parse().ok().filter(|kappa| (0.0..=GREEDIEST).contains(kappa));
        kappa
            .map(Self::Kappa)
            .ok_or_else(|| format!("`{text}` is neither a number from 0 to {GREEDIEST} nor the word `best`"))
    }

    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Kappa(kappa) => kappa.into(),
            Self::Best => "best".into(),
        }
    }
}

impl<'de> Deserialize<'de> for Greed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Self::read(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Greed {
    fn schema_name() -> Cow<'static, str> {
        "Greed".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["number", "string"],
            "minimum": 0,
            "maximum": GREEDIEST,
            "pattern": "^best$",
            "x-form": "greed",
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

const ONLY_SCORED: [&str; 6] = ["preset", "weights", "greed", "explore", "target", "expected_tokens"];

pub(super) fn check(config: &RoutingConfig, at: &Cursor<'_>, findings: &mut Findings) {
    // What the built-in catalogue says of it is not the operator's slip.
    let given = |name: &&str| at.key(name).node.is_some_and(|node| node.at.origin == Origin::File);
    if config.preset.is_some() && config.weights.is_some() {
        findings.fault(&at.key("weights"), "give either `preset` or `weights`, not both");
    } else if let Err(error) = config.weights().checked() {
        findings.fault(&at.key("weights"), error.to_string());
    }
    if config.order == OrderConfig::Listed {
        for name in ONLY_SCORED.iter().filter(|name| given(name)) {
            findings.warn(&at.key(name), "has no effect with `order: listed`");
        }
    } else if config.greed == Greed::Best && given(&"explore") {
        findings.warn(&at.key("explore"), "has no effect with `greed: best`, which draws nothing");
    }
}
