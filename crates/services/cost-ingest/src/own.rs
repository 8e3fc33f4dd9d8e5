//! What of the accounts is a caller's own.

use signalbox_api::v1::UsageFilter;
use signalbox_ports::Identity;
use signalbox_types::{ErrorReason, Failure};

/// Makes a question one about the caller's tenant, where it may see no other.
pub(crate) fn tenant(caller: &Identity, tenant_id: &mut String) -> Result<(), Failure> {
    *tenant_id = caller.tenant(tenant_id)?.to_owned();
    Ok(())
}

/// The same for a filter.
pub(crate) fn filter(caller: &Identity, filter: &mut Option<UsageFilter>) -> Result<(), Failure> {
    let Some(own) = caller.only_tenant() else { return Ok(()) };
    let tenants = &mut filter.get_or_insert_default().tenant_ids;
    if tenants.iter().any(|named| named != own) {
        let message = "filter.tenant_ids: the API key belongs to another tenant; leave them out for its own";
        return Err(Failure::new(ErrorReason::PermissionDenied, message));
    }
    *tenants = vec![own.to_owned()];
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_ports::Scope;

    fn asked(scope: Scope, named: &[&str]) -> Result<Vec<String>, ErrorReason> {
        let caller = Identity { key_id: String::new(), scope };
        let tenant_ids = named.iter().map(|name| (*name).to_owned()).collect();
        let mut asked = Some(UsageFilter { tenant_ids, ..UsageFilter::default() });
        filter(&caller, &mut asked).map_err(|failure| failure.reason)?;
        Ok(asked.unwrap_or_default().tenant_ids)
    }

    #[test]
    fn a_tenants_key_sees_its_own_whatever_it_asks_and_no_other() {
        let reader = || Scope::ReadOnly("acme".to_owned());
        assert_eq!(asked(reader(), &[]), Ok(vec!["acme".to_owned()]));
        assert_eq!(asked(reader(), &["acme"]), Ok(vec!["acme".to_owned()]));
        for other in [&["other"][..], &["acme", "other"], &[""]] {
            assert_eq!(asked(reader(), other), Err(ErrorReason::PermissionDenied), "{other:?}");
        }
        let mut none = None;
        let caller = Identity { key_id: "k".to_owned(), scope: reader() };
        filter(&caller, &mut none).unwrap();
        assert_eq!(none.unwrap_or_default().tenant_ids, ["acme"]);
    }

    #[test]
    fn an_operator_sees_what_he_asks_for() {
        assert_eq!(asked(Scope::Admin, &[]), Ok(Vec::new()));
        assert_eq!(asked(Scope::Deployment, &["a", "b"]), Ok(vec!["a".to_owned(), "b".to_owned()]));
    }
}
