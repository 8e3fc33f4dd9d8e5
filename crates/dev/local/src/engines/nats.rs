//! A node of the NATS cluster.

use super::USER;
use crate::{
    Kind, Part, Purpose, Stack, folder,
    launch::{Launch, tool},
};

pub(crate) fn prepare(stack: &Stack, part: Part) -> Result<Launch, String> {
    let program = tool("nats-server")?;
    let file = stack.folder().config(part);
    folder::write(&file, &configuration(stack, part))?;
    Ok(Launch::of(program).args(["--config".to_owned(), file.display().to_string()]))
}

fn configuration(stack: &Stack, part: Part) -> String {
    let at = |part, purpose| stack.ports().address(part, purpose);
    let (clients, cluster) = (at(part, Purpose::Clients), at(part, Purpose::Internal));
    let monitor = at(part, Purpose::Metrics);
    let routes: Vec<String> =
        Kind::Nats.parts().map(|node| format!("nats://{}", at(node, Purpose::Internal))).collect();
    let (routes, store) = (routes.join(", "), stack.folder().data(part));
    let password = &stack.secrets().engines;
    format!(
        "\
server_name: {part}
listen: {clients}
http: {monitor}
authorization {{ user: {USER}, password: \"{password}\" }}
jetstream {{ store_dir: {store:?}, max_memory_store: 64MB, max_file_store: 2GB }}
cluster {{ name: signalbox, listen: {cluster}, routes: [{routes}] }}
"
    )
}
