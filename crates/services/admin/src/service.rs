//! The handlers. All of it is for operators.

use crate::{drills, status::status, vendors, vendors::Vendors};
use signalbox_api::{
    status::to_status,
    v1::{self, admin_service_server::AdminService},
};
use signalbox_kit::{access::require, config::ConfigHandle};
use signalbox_ports::{Drills, Identity};
use signalbox_types::{ErrorReason, Failure};
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
    /// The drills of this process's router, where it has one.
    pub drills: Option<Arc<dyn Drills>>,
}

/// [`AdminService`] over this process.
#[derive(Debug)]
pub struct Admin {
    pub(crate) dependencies: Dependencies,
}

impl Admin {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies }
    }

    fn drills(&self) -> Result<&Arc<dyn Drills>, Failure> {
        self.dependencies.drills.as_ref().ok_or_else(|| {
            let message = "this process makes no routed calls that a drill could hit: ask one that serves the role router";
            Failure::new(ErrorReason::InvalidRequest, message)
        })
    }
}

#[tonic::async_trait]
impl AdminService for Admin {
    async fn get_config_status(
        &self,
        request: Request<v1::GetConfigStatusRequest>,
    ) -> Result<Response<v1::GetConfigStatusResponse>, Status> {
        require(&request, Identity::may_operate)?;
        let status = status(&self.dependencies);
        Ok(Response::new(v1::GetConfigStatusResponse { status: Some(status) }))
    }

    /// A file that is refused is an answer, not a failed call: its problems are in `last_error`.
    async fn reload_config(
        &self,
        request: Request<v1::ReloadConfigRequest>,
    ) -> Result<Response<v1::ReloadConfigResponse>, Status> {
        require(&request, Identity::may_operate)?;
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
        require(&request, Identity::may_operate)?;
        let catalog = self.dependencies.config.catalog();
        vendors::page(&self.dependencies.vendors.load(), &catalog, request.get_ref())
            .map(Response::new)
            .map_err(|failure| to_status(&failure))
    }

    async fn start_drill(
        &self,
        request: Request<v1::StartDrillRequest>,
    ) -> Result<Response<v1::StartDrillResponse>, Status> {
        require(&request, Identity::may_operate)?;
        let wanted = request.into_inner().drill;
        let started = self.drills().and_then(|drills| drills.start(wanted.unwrap_or_default()));
        let drill = started.map_err(|failure| to_status(&failure))?;
        Ok(Response::new(v1::StartDrillResponse { drill: Some(drill) }))
    }

    async fn stop_drill(
        &self,
        request: Request<v1::StopDrillRequest>,
    ) -> Result<Response<v1::StopDrillResponse>, Status> {
        require(&request, Identity::may_operate)?;
        let stopped = self.drills().and_then(|drills| drills.stop(&request.get_ref().name));
        let drill = stopped.map_err(|failure| to_status(&failure))?;
        Ok(Response::new(v1::StopDrillResponse { drill: Some(drill) }))
    }

    async fn list_drills(
        &self,
        request: Request<v1::ListDrillsRequest>,
    ) -> Result<Response<v1::ListDrillsResponse>, Status> {
        require(&request, Identity::may_operate)?;
        let listed = self.drills().and_then(|drills| drills::page(drills.list(), request.get_ref()));
        listed.map(Response::new).map_err(|failure| to_status(&failure))
    }
}
