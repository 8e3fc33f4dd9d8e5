//! A router without an adapter in its process follows those of other processes.

use crate::{
    roles::Role,
    wire::{Shared, adapter_peers},
};
use signalbox_api::v1::{self, admin_service_client::AdminServiceClient};
use signalbox_kit::{Hop, hop, readiness::Readiness};
use std::{sync::Arc, time::Duration};
use tonic::{Request, Status};

/// How often the adapters are asked.
const EVERY: Duration = Duration::from_secs(1);
/// So many unanswered questions in a row mean that no adapter is in reach.
const MISSES: u32 = 3;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_millis(800);

/// A router without an adapter in its process is not ready before it has heard of one.
pub(crate) fn expect_adapters(shared: &Shared, readiness: &Readiness) {
    if needs_adapters(shared) {
        readiness.set("adapter", Err("not heard yet".to_owned()));
    }
}

fn needs_adapters(shared: &Shared) -> bool {
    shared.serves(Role::Router) && !shared.serves(Role::Adapter)
}

/// Asks the adapters which vendors they can reach, again and again; the process is ready while one answers.
pub(crate) async fn follow_adapters(shared: Shared, readiness: Readiness) {
    if !needs_adapters(&shared) {
        return;
    }
    let hop = match adapter_peers(&shared, Role::Router) {
        Ok(hop) => hop,
        Err(problem) => return readiness.set("adapter", Err(problem)),
    };
    let mut client = AdminServiceClient::new(hop);
    let (mut in_reach, mut misses) = (None, 0);
    loop {
        let heard = ask(&mut client)
            .await
            .map(|vendors| shared.vendors.set(vendors))
            .map_err(|status| hop::cause(&status));
        misses = if heard.is_ok() { 0 } else { misses + 1 };
        // A single miss may be one stuck replica of several.
        if (1..MISSES).contains(&misses) && in_reach == Some(true) {
            tokio::time::sleep(EVERY).await;
            continue;
        }
        log_change(&mut in_reach, &heard);
        readiness.set("adapter", heard);
        tokio::time::sleep(EVERY).await;
    }
}

/// Says once that no adapter answers, and once that one does again.
fn log_change(in_reach: &mut Option<bool>, heard: &Result<(), String>) {
    if in_reach.replace(heard.is_ok()) == Some(heard.is_ok()) {
        return;
    }
    match heard {
        Ok(()) => tracing::info!("an adapter answers"),
        Err(why) => tracing::warn!(why, "no adapter answers, so no request can be served until one does"),
    }
}

async fn ask(client: &mut AdminServiceClient<Hop>) -> Result<Vec<(Arc<str>, bool)>, Status> {
    let mut vendors = Vec::new();
    let mut page_token = String::new();
    loop {
        let mut request = Request::new(v1::ListVendorsRequest { page_size: 0, page_token });
        request.set_timeout(PATIENCE);
        let page = client.list_vendors(request).await?.into_inner();
        vendors.extend(page.vendors.into_iter().map(|vendor| (Arc::from(vendor.name), vendor.simulated)));
        if page.next_page_token.is_empty() {
            return Ok(vendors);
        }
        page_token = page.next_page_token;
    }
}
