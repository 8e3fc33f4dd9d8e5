//! A tenant's key is for its own tenant, on every method that takes a tenant's id.

use super::raw::{call, methods};
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor, Value};
use serde_json::json;
use signalbox_api::v1::{Tenant, api_key::Scope};
use signalbox_testkit::{Fleet, Options, Signalbox};
use tonic::Code;

/// Deep enough for the contract.
const DEEPEST: usize = 6;

/// Where in a message tenants are named: the way to each such field.
fn places(message: &MessageDescriptor, way: &[FieldDescriptor]) -> Vec<Vec<FieldDescriptor>> {
    let mut found = Vec::new();
    for field in message.fields() {
        let way = [way, std::slice::from_ref(&field)].concat();
        match field.kind() {
            Kind::String if ["tenant_id", "tenant_ids"].contains(&field.name()) => found.push(way),
            Kind::Message(inner) if !field.is_map() && way.len() < DEEPEST => {
                found.extend(places(&inner, &way));
            }
            _ => {}
        }
    }
    found
}

/// A message that names a tenant in one place and says nothing else.
fn naming(tenant: &str, message: &MessageDescriptor, way: &[FieldDescriptor]) -> DynamicMessage {
    let mut built = DynamicMessage::new(message.clone());
    let (field, rest) = way.split_first().unwrap();
    let value = match field.kind() {
        Kind::Message(inner) => Value::Message(naming(tenant, &inner, rest)),
        _ => Value::String(tenant.to_owned()),
    };
    built.set_field(field, if field.is_list() { Value::List(vec![value]) } else { value });
    built
}

/// Everything in one process; and an adapter in its own, since nobody's is served beside a router.
struct Office {
    whole: Signalbox,
    adapter: Signalbox,
    _folder: tempfile::TempDir,
}

impl Office {
    async fn open() -> Self {
        let env = vec![("SIGNALBOX_ADMIN_KEY".to_owned(), Fleet::ADMIN_KEY.to_owned())];
        let options = Options { env, ..Options::default() };
        let whole = Signalbox::serve(options.clone()).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("adapter.yaml");
        std::fs::write(&file, json!({"peers": {"budget": [whole.peer()]}}).to_string()).unwrap();
        let adapter = Signalbox::serve(Options { config: Some(file), roles: "adapter", ..options }).await;
        Self { whole, adapter, _folder: folder }
    }

    fn serving(&self, method: &MethodDescriptor) -> &Signalbox {
        let provider = method.parent_service().name() == "ProviderService";
        if provider { &self.adapter } else { &self.whole }
    }
}

#[tokio::test]
async fn no_method_lets_a_tenants_key_act_for_another_tenant() {
    let office = Office::open().await;
    for id in ["acme", "other"] {
        office.whole.add_tenant(Fleet::ADMIN_KEY, Tenant { tenant_id: id.into(), ..Tenant::default() }).await;
    }
    let (_, spends) = office.whole.make_key(Fleet::ADMIN_KEY, "acme", Scope::Tenant).await;
    let (_, reads) = office.whole.make_key(Fleet::ADMIN_KEY, "acme", Scope::ReadOnly).await;
    let mut tried = 0;
    for method in methods() {
        for place in places(&method.input(), &[]) {
            // An item is its job's: one that names a tenant is not taken without a job, nor in another's.
            let lost = (method.name(), place[0].name()) == ("SubmitBatchJob", "items");
            for (key, lost) in [(&spends, lost), (&reads, false)] {
                let expected = if lost { Code::InvalidArgument } else { Code::PermissionDenied };
                let way = office.serving(&method).keyed(key);
                let answer = call(way, &method, naming("other", &method.input(), &place)).await;
                let code = answer.map_or_else(|status| status.code(), |()| Code::Ok);
                let names: Vec<&str> = place.iter().map(FieldDescriptor::name).collect();
                assert_eq!(code, expected, "{} with {}", method.full_name(), names.join("."));
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried} ways to name a tenant were found");
}
