use crate::{Admin, Dependencies, VendorFacts, Vendors};
use signalbox_api::{
    status::from_status,
    v1::{self, admin_service_server::AdminService},
};
use signalbox_kit::{
    FixedClock,
    config::{ConfigHandle, Environment},
};
use signalbox_ports::Drills;
use signalbox_types::{ErrorReason, Failure, VendorKind};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tonic::{Code, Request};

const GOOD: &str = "default_alias: cheap\n";

fn admin(source: Option<PathBuf>, vendors: Vec<VendorFacts>) -> Admin {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600);
    let config =
        ConfigHandle::start(source.clone(), Environment::default(), Arc::new(FixedClock(now))).unwrap();
    Admin::new(Dependencies {
        config: Arc::new(config),
        vendors: Arc::new(Vendors::from_pointee(vendors)),
        roles: vec!["router".to_owned(), "adapter".to_owned()],
        source,
        drills: None,
    })
}

fn file(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("signalbox.yaml");
    std::fs::write(&path, text).unwrap();
    path
}

fn vendor(name: &str) -> VendorFacts {
    VendorFacts {
        name: name.to_owned(),
        kind: VendorKind::Openai,
        base_url: "https://api.openai.com".to_owned(),
        has_key: true,
        simulated: false,
        max_concurrency: 128,
    }
}

async fn status(admin: &Admin) -> v1::ConfigStatus {
    let answer = admin.get_config_status(Request::new(v1::GetConfigStatusRequest {})).await;
    answer.unwrap().into_inner().status.unwrap()
}

async fn reload(admin: &Admin) -> v1::ConfigStatus {
    let answer = admin.reload_config(Request::new(v1::ReloadConfigRequest {})).await;
    answer.unwrap().into_inner().status.unwrap()
}

async fn page(admin: &Admin, page_size: i32, page_token: &str) -> v1::ListVendorsResponse {
    let request = v1::ListVendorsRequest { page_size, page_token: page_token.to_owned() };
    admin.list_vendors(Request::new(request)).await.unwrap().into_inner()
}

#[tokio::test]
async fn the_status_says_what_is_in_force_and_since_when() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), GOOD);
    let status = status(&admin(Some(path.clone()), Vec::new())).await;
    assert_eq!(status.source, path.display().to_string());
    assert!(!status.catalog_version.is_empty());
    assert_eq!(status.loaded_at.unwrap().seconds, 1_795_953_600);
    assert_eq!(status.last_error, "");
    assert_eq!(status.roles, ["router", "adapter"]);
    assert_eq!(status.program_version, env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn the_built_in_defaults_have_no_source() {
    assert_eq!(status(&admin(None, Vec::new())).await.source, "");
}

#[tokio::test]
async fn a_good_file_is_taken_over_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), GOOD);
    let admin = admin(Some(path), Vec::new());
    let before = status(&admin).await;
    file(folder.path(), "default_alias: smart\n");
    let after = reload(&admin).await;
    assert_ne!(after.catalog_version, before.catalog_version);
    assert_eq!((after.reloads, after.failures, after.last_error.as_str()), (1, 0, ""));
}

#[tokio::test]
async fn a_bad_file_changes_nothing_and_its_problems_are_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), GOOD);
    let admin = admin(Some(path.clone()), Vec::new());
    let before = status(&admin).await;
    file(folder.path(), "default_alias: nobody\n");
    let after = reload(&admin).await;
    assert_eq!(after.catalog_version, before.catalog_version);
    assert_eq!((after.reloads, after.failures), (0, 1));
    let place = format!("{}:1:", path.display());
    assert!(after.last_error.starts_with(&place), "{}", after.last_error);
    assert!(after.last_error.contains("default_alias"), "{}", after.last_error);
}

#[tokio::test]
async fn vendors_come_by_name_page_by_page_with_their_models() {
    let admin = admin(None, ["xai", "anthropic", "openai"].map(vendor).to_vec());
    let first = page(&admin, 2, "").await;
    let names: Vec<_> = first.vendors.iter().map(|vendor| vendor.name.as_str()).collect();
    assert_eq!(names, ["anthropic", "openai"]);
    assert!(first.vendors.iter().all(|vendor| vendor.models > 0 && vendor.has_key));
    let last = page(&admin, 2, &first.next_page_token).await;
    assert_eq!(last.vendors.len(), 1);
    assert_eq!((last.vendors[0].name.as_str(), last.next_page_token.as_str()), ("xai", ""));
}

#[tokio::test]
async fn a_negative_page_size_is_named() {
    let request = v1::ListVendorsRequest { page_size: -1, page_token: String::new() };
    let status = admin(None, Vec::new()).list_vendors(Request::new(request)).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(from_status(&status).violations[0].field, "page_size");
}

#[tokio::test]
async fn a_process_without_a_router_says_where_drills_are() {
    let admin = admin(None, Vec::new());
    let start = admin.start_drill(Request::new(v1::StartDrillRequest::default())).await.unwrap_err();
    let list = admin.list_drills(Request::new(v1::ListDrillsRequest::default())).await.unwrap_err();
    let stop = admin.stop_drill(Request::new(v1::StopDrillRequest::default())).await.unwrap_err();
    for status in [start, list, stop] {
        assert!(status.message().contains("role router"), "{status:?}");
        assert_eq!(from_status(&status).reason, ErrorReason::InvalidRequest);
    }
}

/// Drills that have all ended.
#[derive(Debug)]
struct Ended(Vec<&'static str>);

impl Drills for Ended {
    fn start(&self, wanted: v1::Drill) -> Result<v1::Drill, Failure> {
        Ok(wanted)
    }

    fn stop(&self, name: &str) -> Result<v1::Drill, Failure> {
        Err(Failure::invalid("name", format!("no drill `{name}`")))
    }

    fn list(&self) -> Vec<v1::Drill> {
        self.0.iter().map(|name| v1::Drill { name: (*name).to_owned(), ..Default::default() }).collect()
    }
}

#[tokio::test]
async fn drills_come_page_by_page_in_the_order_of_the_router() {
    let mut admin = admin(None, Vec::new());
    admin.dependencies.drills = Some(Arc::new(Ended(vec!["c", "a", "b"])));
    let page = async |page_size, page_token: &str| {
        let request = v1::ListDrillsRequest { page_size, page_token: page_token.to_owned() };
        admin.list_drills(Request::new(request)).await.map(tonic::Response::into_inner)
    };
    let names = |page: &v1::ListDrillsResponse| -> Vec<String> {
        page.drills.iter().map(|drill| drill.name.clone()).collect()
    };
    let first = page(2, "").await.unwrap();
    assert_eq!((names(&first), first.next_page_token.as_str()), (vec!["c".into(), "a".into()], "a"));
    let last = page(2, "a").await.unwrap();
    assert_eq!((names(&last), last.next_page_token.as_str()), (vec!["b".to_owned()], ""));
    for (size, token, field) in [(-1, "", "page_size"), (1, "gone", "page_token")] {
        let status = page(size, token).await.unwrap_err();
        assert_eq!(from_status(&status).violations[0].field, field);
    }
}
