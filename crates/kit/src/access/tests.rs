mod held;

use super::*;
use crate::{
    config::Environment,
    hop::{self, Hop},
    serve,
};
use signalbox_api::{
    status::from_status,
    v1::{
        self,
        admin_service_client::AdminServiceClient,
        admin_service_server::{AdminService, AdminServiceServer},
    },
};
use signalbox_ports::Authenticator;
use signalbox_types::{ErrorReason, Failure};
use std::{net::IpAddr, sync::Mutex, time::Duration};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, metadata::MetadataValue, service::Routes};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

const KEY: &str = "a-key-of-thirty-two-characters-or-more";

/// Answers with who it thinks is calling, and what it sees of the caller's key.
#[derive(Debug)]
pub(crate) struct WhoAmI;

#[tonic::async_trait]
impl AdminService for WhoAmI {
    async fn get_config_status(
        &self,
        request: Request<v1::GetConfigStatusRequest>,
    ) -> Result<Response<v1::GetConfigStatusResponse>, Status> {
        let status = v1::ConfigStatus {
            source: format!("{:?}", identity(&request).scope),
            last_error: format!("{:?}", request.metadata().get("authorization")),
            ..v1::ConfigStatus::default()
        };
        Ok(Response::new(v1::GetConfigStatusResponse { status: Some(status) }))
    }

    async fn reload_config(
        &self,
        _: Request<v1::ReloadConfigRequest>,
    ) -> Result<Response<v1::ReloadConfigResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn list_vendors(
        &self,
        _: Request<v1::ListVendorsRequest>,
    ) -> Result<Response<v1::ListVendorsResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn start_drill(
        &self,
        _: Request<v1::StartDrillRequest>,
    ) -> Result<Response<v1::StartDrillResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn stop_drill(
        &self,
        _: Request<v1::StopDrillRequest>,
    ) -> Result<Response<v1::StopDrillResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn list_drills(
        &self,
        _: Request<v1::ListDrillsRequest>,
    ) -> Result<Response<v1::ListDrillsResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// A server that asks `authenticator`, and its address.
fn server(authenticator: impl Authenticator + 'static) -> String {
    let listener = serve::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap().remove(0);
    let address = listener.local_addr().unwrap();
    let (_, health) = tonic_health::server::health_reporter();
    let routes = Routes::new(AdminServiceServer::new(WhoAmI)).add_service(health);
    let drain = CancellationToken::new();
    let entrance = serve::Entrance::Clear(Arc::new(authenticator));
    tokio::spawn(serve::serve(listener, entrance, routes, drain, Duration::ZERO));
    format!("http://{address}")
}

/// Who the server says that calls with this header, and what the handler has seen of it.
pub(crate) async fn ask(hop: Hop, authorization: Option<&str>) -> Result<(String, String), Failure> {
    let mut request = Request::new(v1::GetConfigStatusRequest {});
    if let Some(value) = authorization {
        request.metadata_mut().insert("authorization", MetadataValue::try_from(value).unwrap());
    }
    let answer = AdminServiceClient::new(hop).get_config_status(request).await;
    let status = answer.map_err(|status| from_status(&status))?.into_inner().status.unwrap();
    Ok((status.source, status.last_error))
}

fn admin_key() -> AdminKey {
    AdminKey::from_environment(&Environment::new([(AdminKey::VARIABLE, KEY)])).unwrap().unwrap()
}

fn locked() -> LoneAuthenticator {
    LoneAuthenticator::new(Some(admin_key()), false)
}

#[tokio::test]
async fn a_method_is_reached_with_the_key_only_and_never_sees_it() {
    let hop = hop::remote(&[server(locked())]).unwrap();
    for good in [format!("Bearer {KEY}"), format!("bearer  {KEY} ")] {
        let seen = ask(hop.clone(), Some(&good)).await.unwrap();
        assert_eq!(seen, ("Deployment".to_owned(), "None".to_owned()));
    }
    let wrong = format!("Bearer {KEY}x");
    for bad in [None, Some("Bearer "), Some("Bearer"), Some(KEY), Some(wrong.as_str()), Some("Basic abc")] {
        let failure = ask(hop.clone(), bad).await.unwrap_err();
        assert_eq!(failure.reason, ErrorReason::Unauthenticated, "{bad:?}");
        assert!(!failure.message.contains(KEY), "{}", failure.message);
    }
}

#[tokio::test]
async fn a_hop_with_the_key_of_the_deployment_reaches_its_other_roles() {
    let peers = [server(locked())];
    let hop = hop::with_key(hop::remote(&peers).unwrap(), Some(&admin_key()));
    assert_eq!(ask(hop, None).await.unwrap().0, "Deployment");
}

#[tokio::test]
async fn health_needs_no_key() {
    let hop = hop::remote(&[server(locked())]).unwrap();
    HealthClient::new(hop).check(HealthCheckRequest::default()).await.unwrap();
}

#[tokio::test]
async fn without_any_key_everybody_is_let_in_unless_one_is_locked() {
    let open = hop::remote(&[server(LoneAuthenticator::new(None, false))]).unwrap();
    assert_eq!(ask(open.clone(), None).await.unwrap().0, "Open");
    assert_eq!(ask(open, Some("Bearer anything")).await.unwrap().0, "Open");
    let shut = hop::remote(&[server(LoneAuthenticator::new(None, true))]).unwrap();
    assert_eq!(ask(shut, Some("Bearer anything")).await.unwrap_err().reason, ErrorReason::Unauthenticated);
}

#[tokio::test]
async fn a_call_from_inside_the_process_is_another_role_of_it() {
    let inside = hop::local(AdminServiceServer::new(WhoAmI));
    assert_eq!(ask(inside, None).await.unwrap().0, "Deployment");
}

/// Notes where calls come from.
#[derive(Debug, Clone, Default)]
struct Peers(Arc<Mutex<Vec<Option<IpAddr>>>>);

#[async_trait::async_trait]
impl Authenticator for Peers {
    async fn authenticate(&self, _: Option<&str>, peer: Option<IpAddr>) -> Result<Arc<Identity>, Failure> {
        self.0.lock().unwrap().push(peer);
        Err(Failure::new(ErrorReason::Unavailable, "the keys are away"))
    }
}

#[tokio::test]
async fn who_is_asked_hears_where_a_call_comes_from_and_its_failure_is_told() {
    let peers = Peers::default();
    let hop = hop::remote(&[server(peers.clone())]).unwrap();
    let failure = ask(hop, Some("Bearer k")).await.unwrap_err();
    assert_eq!((failure.reason, failure.message.as_str()), (ErrorReason::Unavailable, "the keys are away"));
    assert_eq!(*peers.0.lock().unwrap(), [Some(IpAddr::from([127, 0, 0, 1]))]);
}

#[test]
fn the_key_of_a_deployment_is_long_and_never_shown() {
    let key = |key: &str| AdminKey::from_environment(&Environment::new([(AdminKey::VARIABLE, key)]));
    assert_eq!(key(""), Ok(None));
    let problem = key("hunter2").unwrap_err();
    assert!(problem.starts_with("SIGNALBOX_ADMIN_KEY: has 7 characters; it needs at least 32"), "{problem}");
    for bad in
        ["hunter2", "hunter2 with spaces, however long it may be", "hunter2-with-ümlauts-however-long-it-is"]
    {
        let problem = key(bad).unwrap_err();
        assert!(!problem.contains("hunter2"), "{problem}");
    }
    let shown = format!("{:?} {:?}", admin_key(), locked());
    assert!(!shown.contains(KEY), "{shown}");
    assert!(admin_key().is(KEY) && !admin_key().is(&KEY[1..]) && !admin_key().is(""));
}
