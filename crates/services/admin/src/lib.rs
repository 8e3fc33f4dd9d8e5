//! What operators ask a running process: which configuration it serves with, to read it again, which vendors it
//! knows, and drills.

mod drills;
mod service;
mod status;
mod vendors;

pub use service::{Admin, Dependencies};
pub use vendors::{VendorFacts, Vendors};

use signalbox_api::v1::admin_service_server::AdminServiceServer;

/// The operators' service as a gRPC server.
pub fn server(dependencies: Dependencies) -> AdminServiceServer<Admin> {
    AdminServiceServer::new(Admin::new(dependencies))
}

#[cfg(test)]
mod tests;
