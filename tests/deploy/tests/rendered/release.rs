//! The chart's release, as those who operate and call it meet it.

use super::{engines, job, load::Load};
use signalbox_api::v1::{
    ApiKey, CreateApiKeyRequest, CreateTenantRequest, QueryUsageRequest, Tenant, UsageFilter, api_key::Scope,
    budget_service_client::BudgetServiceClient, usage_service_client::UsageServiceClient,
};
use signalbox_certificates::Authority;
use signalbox_deploy::{
    cluster::{Cluster, Image},
    documents,
    helm::Helm,
};
use signalbox_testkit::{Key, Keyed, Vendorsim, eventually, get, metrics::Metrics};
use std::path::{Path, PathBuf};
use tonic::{
    service::interceptor::InterceptedService,
    transport::{Channel, Endpoint},
};

const ADMIN_KEY: &str = "the-key-that-all-roles-of-this-fleet-share";
const CACHE_SECRET: &str = "the-secret-that-cached-answers-are-encrypted-with";
const ROLES: [&str; 6] = ["router", "adapter", "ingest", "budget", "cache", "batch"];
const TENANT: &str = "sports";
/// In the year 2020.
const LONG_AGO: i64 = 1_577_836_800;

/// A release that is being tried.
#[derive(Debug)]
pub(super) struct Release {
    pub(super) cluster: Cluster,
    load: Load,
    /// Items of batch jobs.
    items: usize,
    _vendors: Vendorsim,
}

impl Release {
    /// A cluster with the secrets that values name, but no release yet.
    pub(super) async fn prepare(folder: PathBuf) -> Self {
        let mut cluster = Cluster::start(folder, Image::signalbox()).await;
        let vendors = engines::vendors(&mut cluster).await;
        cluster.secret("signalbox", &[("admin-key", ADMIN_KEY), ("cache-secret", CACHE_SECRET)]);
        Self { cluster, load: Load::default(), items: 0, _vendors: vendors }
    }

    /// Gives each role a certificate of the first authority, and lets it trust all of them.
    pub(super) fn certify(&mut self, authorities: &[&Authority]) {
        let trusted: String = authorities.iter().map(|authority| authority.ca_pem()).collect();
        for role in ROLES {
            let pair = authorities[0].issue(&[role]);
            let files = [
                ("tls.crt", pair.certificate_pem.as_str()),
                ("tls.key", pair.key_pem.as_str()),
                ("ca.crt", trusted.as_str()),
            ];
            self.cluster.secret(&format!("mtls-{role}"), &files);
        }
    }

    /// Puts another authority in the place of one while calls go on, none of which fails. Pods that come later trust the
    /// new one alone.
    pub(super) async fn change_authority(&mut self, old: &Authority, new: &Authority, key: &str) {
        for (round, trusted) in (1..).zip([&[old, new][..], &[new, old], &[new]]) {
            self.certify(trusted);
            let taken_over = async {
                for pod in self.cluster.pods() {
                    let address = pod.port("metrics").unwrap();
                    eventually("certificates are taken over", || async {
                        let text = get(address, "/metrics").await.map(|(_, text)| text).unwrap_or_default();
                        let labels = [("use", "mtls"), ("result", "ok")];
                        Metrics::new(text).sum("signalbox_tls_reloads_total", &labels) >= f64::from(round)
                    })
                    .await;
                }
            };
            self.load.during([way("signalbox", key), way("signalbox", key)], taken_over).await;
        }
    }

    /// Installs what values render to, and waits until all of it is ready. No container was started again.
    pub(super) async fn install(&mut self, values: &[&str]) {
        let values: Vec<&Path> = values.iter().map(Path::new).collect();
        let manifests = Helm::Four.template(&values, &[]).unwrap();
        let manifests = documents(&manifests);
        self.cluster.install(&manifests).await;
        self.cluster.all_ready().await;
        // As before an upgrade to the same version: what migrations have done is no obstacle to them.
        self.cluster.run_hooks(&manifests).await;
    }

    /// Makes a tenant and a key, as an operator does.
    pub(super) async fn make_key(&self) -> String {
        let mut budgets = BudgetServiceClient::new(way("signalbox-budget", ADMIN_KEY));
        let tenant = Tenant { tenant_id: TENANT.to_owned(), ..Tenant::default() };
        budgets.create_tenant(CreateTenantRequest { tenant: Some(tenant) }).await.unwrap();
        let key = ApiKey { tenant_id: TENANT.to_owned(), scope: Scope::Tenant.into(), ..ApiKey::default() };
        let made = budgets.create_api_key(CreateApiKeyRequest { api_key: Some(key) }).await.unwrap();
        made.into_inner().secret
    }

    /// A call and a stream, by the name that clients are told.
    pub(super) async fn ask(&self, key: &str) {
        self.load.once(way("signalbox", key)).await;
    }

    /// Hands in a job that can wait.
    pub(super) async fn hand_in_job(&mut self, key: &str) {
        job::hand_in(way("signalbox-batch", key)).await;
        self.items += job::ITEMS;
    }

    /// The job ends with an answer to each of its items, whichever pods there have been since.
    pub(super) async fn job_is_answered(&self, key: &str) {
        job::is_answered(way("signalbox-batch", key)).await;
    }

    /// Every pod shows metrics, and Prometheus finds each of them.
    pub(super) async fn scrape(&self) {
        let found = self.cluster.look_up("signalbox-metrics");
        assert_eq!(found.len(), self.cluster.pods().len(), "{found:?}");
        for pod in self.cluster.pods() {
            let address = pod.port("metrics").unwrap();
            let (status, text) = get(address, "/metrics").await.unwrap();
            assert_eq!(status, 200, "{text}");
            assert!(text.contains("\nsignalbox_"), "{} says: {text}", pod.name());
        }
    }

    /// Replaces a pod of each Deployment while calls go on, none of which fails.
    pub(super) async fn replace_under_load(&mut self, key: &str) {
        let ways = [way("signalbox", key), way("signalbox", key)];
        self.load.during(ways, Box::pin(self.cluster.replace_one_of_each())).await;
    }

    /// Every call and every item is accounted for, once.
    pub(super) async fn count_accounts(&self) {
        let expected = u64::try_from(self.load.begun() + self.items).unwrap();
        eventually("every call is accounted for", || async {
            let requests = accounted().await;
            assert!(requests <= expected, "{requests} calls are accounted for, of {expected}");
            requests == expected
        })
        .await;
    }

    /// No container was ever started again.
    pub(super) fn was_quiet(&self) {
        for pod in self.cluster.pods() {
            assert!(pod.restarts().is_empty(), "{}: {:?}\n{}", pod.name(), pod.restarts(), pod.log());
        }
    }
}

async fn accounted() -> u64 {
    let mut usage = UsageServiceClient::new(way("signalbox-ingest", ADMIN_KEY));
    let filter = UsageFilter { tenant_ids: vec![TENANT.to_owned()], ..UsageFilter::default() };
    let start_time = Some(prost_types::Timestamp { seconds: LONG_AGO, nanos: 0 });
    let question = QueryUsageRequest { filter: Some(filter), start_time, ..QueryUsageRequest::default() };
    let rows = usage.query_usage(question).await.unwrap().into_inner().rows;
    rows.iter().map(|row| row.requests).sum()
}

/// A connection to a service by its name, on which each call carries a key.
fn way(service: &str, key: &str) -> Keyed {
    let endpoint = Endpoint::from_shared(format!("http://{service}:50051")).unwrap();
    let channel: Channel = endpoint.connect_lazy();
    InterceptedService::new(channel, Key::new(key))
}
