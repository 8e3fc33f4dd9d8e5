//! A Redis server that can search by vectors. What it has is gone with it.

use crate::{
    Part, Purpose, Stack, folder,
    launch::{Launch, tool},
};

pub(crate) fn prepare(stack: &Stack, part: Part) -> Result<Launch, String> {
    let (program, module) = (tool("redis-server")?, tool("redisearch.so")?);
    let file = stack.folder().config(part);
    let port = stack.ports().of(part, Purpose::Clients);
    let data = stack.folder().data(part);
    let password = &stack.secrets().engines;
    let configuration = format!(
        "\
bind 127.0.0.1
port {port}
requirepass {password}
save \"\"
appendonly no
# It would be written over the environment, by which its process is known.
set-proc-title no
dir {data:?}
loadmodule {module:?}
"
    );
    folder::write(&file, &configuration)?;
    Ok(Launch::of(program).args([file.display().to_string()]))
}
