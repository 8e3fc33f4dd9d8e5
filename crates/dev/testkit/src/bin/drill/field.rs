//! Where the drill is held: in a system of its own, or in one that is up.

use serde_json::{Value, json};
use signalbox_testkit::{Deployment, KEYS, Key, Keyed, Topology, Vendorsim, at_vendors, merge};
use std::time::Duration;
use tonic::transport::Endpoint;

/// Whom a drill may strike in a system of its own; each is asked first in the run that strikes it.
const MODELS: [(&str, &str); 4] = [
    ("openai", "openai/gpt-6-luna"),
    ("anthropic", "anthropic/claude-haiku-5-5"),
    ("gemini", "gemini/gemini-3.5-flash-lite"),
    ("xai", "xai/grok-4.3"),
];
/// How soon its simulated vendors answer.
const ANSWERS_AFTER: Duration = Duration::from_millis(300);

/// Where it is held.
pub(crate) struct Field {
    /// The way to the router.
    pub(crate) way: Keyed,
    /// What is asked for.
    pub(crate) model: &'static str,
    /// The vendor to strike; the one that answers most where nobody is drawn.
    pub(crate) vendor: Option<&'static str>,
    /// A vendor serves again as before from this part of its former share of the answers on.
    pub(crate) back_from: f64,
    /// In words.
    pub(crate) told: String,
    _own: Option<(Vendorsim, Deployment)>,
}

impl Field {
    /// A router, two adapters and simulated vendors, one of which, drawn by the seed, is asked first: the worst case.
    pub(crate) async fn own(seed: u64) -> Self {
        let (vendor, model) = MODELS[(seed % MODELS.len() as u64) as usize];
        let vendors = Vendorsim::serve(ANSWERS_AFTER).await;
        let mut config = at_vendors(vendors.address());
        merge(&mut config, interactive(model));
        let signalbox = Deployment::start(Topology::Remote, &config, &KEYS).await;
        Self {
            way: signalbox.router.keyed(""),
            model: "desk",
            vendor: Some(vendor),
            back_from: 0.95,
            told: format!(
                "vendor {vendor} (seed {seed}), vendors answer after {} ms",
                ANSWERS_AFTER.as_millis()
            ),
            _own: Some((vendors, signalbox)),
        }
    }

    /// The router at an address, as whom the key belongs to, an operator. It routes as it will.
    pub(crate) fn there(server: &str, key: &str) -> Result<Self, String> {
        let endpoint = Endpoint::from_shared(server.to_owned());
        let endpoint = endpoint.map_err(|error| format!("DRILL_SERVER: `{server}`: {error}"))?;
        Ok(Self {
            way: Keyed::new(endpoint.connect_lazy(), Key::new(key)),
            model: "fast",
            vendor: None,
            back_from: 0.5,
            told: format!("the vendor that answers most at {server}"),
            _own: None,
        })
    }
}

/// Timeouts for people who wait, and the vendor to strike asked first.
fn interactive(first: &str) -> Value {
    let patient = json!({"timeouts": {"connect": "3s", "first_byte": "5s", "idle": "10s", "total": "60s"}});
    let vendors: serde_json::Map<String, Value> =
        MODELS.iter().map(|(vendor, _)| ((*vendor).to_owned(), patient.clone())).collect();
    let others = MODELS.iter().map(|(_, model)| *model).filter(|model| *model != first);
    json!({
        "drills": {"enabled": true},
        "vendors": vendors,
        "aliases": {"desk": {"targets": std::iter::once(first).chain(others).collect::<Vec<_>>()}},
        "routing": {"order": "listed"},
    })
}
