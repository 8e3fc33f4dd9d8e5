//! ClickHouse's engine behind its HTTP front.

use super::USER;
use crate::{
    Part, Purpose, Stack,
    launch::{Launch, tool},
};

pub(crate) fn prepare(stack: &Stack, part: Part) -> Result<Launch, String> {
    let port = stack.ports().of(part, Purpose::Clients).to_string();
    let data = stack.folder().data(part).join("tables").display().to_string();
    let login = ["--user", USER, "--password", &stack.secrets().engines];
    Ok(Launch::of(tool("clickhouse-engine")?).args(["--port", &port, "--data", &data]).args(login))
}
