//! The handlers.

use crate::{status::status, vendors, vendors::Vendors};
use signalbox_api::{
    status::{to_status, unimplemented},
    v1::{self, admin_service_server::AdminService},
};
use signalbox_kit::config::ConfigHandle;
use std::{path::PathBuf, sync::Arc};
use tonic::{Request, Response, Status};

/// What the service tells about.
#[derive(Debug, Clone)]
pub struct Dependencies {
    /// The configuration in force.
    pub config: Arc<ConfigHandle>,
    /// The vendors in use.
    pub vendors: Arc<Vendors>,
    /// Names of the roles that this process serves.
    pub roles: Vec<String>,
    /// The configuration file; `None` for the built-in defaults.
    pub source: Option<PathBuf>,
}

/// [`AdminService`] over this process.
#[derive(Debug)]
pub struct Admin {
    dependencies: Dependencies,
}

impl Admin {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies }
    }
}

#[tonic::async_trait]
impl AdminService for Admin {
    async fn get_config_status(
        &self,
        _: Request<v1::GetConfigStatusRequest>,
    ) -> Result<Response<v1::GetConfigStatusResponse>, Status> {
        let status = status(&self.dependencies);
        Ok(Response::new(v1::GetConfigStatusResponse { status: Some(status) }))
    }

    /// A file that is refused is an answer, not a failed call: its problems are in `last_error`.
    async fn reload_config(
        &self,
        _: Request<v1::ReloadConfigRequest>,
    ) -> Result<Response<v1::ReloadConfigResponse>, Status> {
        match self.dependencies.config.reload().await {
            Ok(loaded) => {
                tracing::info!(version = loaded.catalog.version(), "configuration reloaded on request");
            }
            Err(errors) => tracing::error!("configuration not reloaded, the last good one stays:\n{errors}"),
        }
        let status = status(&self.dependencies);
        Ok(Response::new(v1::ReloadConfigResponse { status: Some(status) }))
    }

    async fn list_vendors(
        &self,
        request: Request<v1::ListVendorsRequest>,
    ) -> Result<Response<v1::ListVendorsResponse>, Status> {
        let catalog = self.dependencies.config.catalog();
        vendors::page(&self.dependencies.vendors.load(), &catalog, request.get_ref())
            .map(Response::new)
            .map_err(|failure| to_status(&failure))
    }

    async fn start_drill(
        &self,
        _: Request<v1::StartDrillRequest>,
    ) -> Result<Response<v1::StartDrillResponse>, Status> {
        Err(unimplemented("AdminService.StartDrill"))
    }

    async fn stop_drill(
        &self,
        _: Request<v1::StopDrillRequest>,
    ) -> Result<Response<v1::StopDrillResponse>, Status> {
        Err(unimplemented("AdminService.StopDrill"))
    }

    async fn list_drills(
        &self,
        _: Request<v1::ListDrillsRequest>,
    ) -> Result<Response<v1::ListDrillsResponse>, Status> {
        Err(unimplemented("AdminService.ListDrills"))
    }
}
