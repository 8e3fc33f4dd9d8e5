//! ClickHouse's engine behind its HTTP front.

use super::USER;
use crate::{
    Part, Purpose, Stack,
    launch::{Launch, tool},
};

pub(crate) fn prepare(stack: &Stack, part: Part) -> Result<Launch, String> {
    let port = stack.ports().of(part, Purpose::Clients).to_string();
    let data = stack.folder().data(part).join("tables").display().to_string();
    let launch = Launch::of(tool("clickhouse-engine")?).args(["--port", &port, "--data", &data]);
    Ok(launch.args(["--user", USER]).env("CLICKHOUSE_ENGINE_PASSWORD", &stack.secrets().engines))
}
