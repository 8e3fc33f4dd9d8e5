//! What Signalbox runs on.

pub(crate) mod clickhouse;
pub(crate) mod nats;
pub(crate) mod postgres;
pub(crate) mod redis;

use crate::{
    Part, Purpose, Stack,
    launch::{Launch, built},
};

/// The only user of every engine.
pub const USER: &str = "signalbox";

/// The simulated vendors.
pub(crate) fn vendors(stack: &Stack, part: Part) -> Result<Launch, String> {
    let address = stack.ports().address(part, Purpose::Clients).to_string();
    Ok(Launch::of(built(stack, "signalbox-vendorsim")?).args(["--listen", &address]))
}
