//! What operators ask a running process: which configuration it serves with, to read it again, and which vendors
//! it knows.

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
