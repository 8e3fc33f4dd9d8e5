//! What can be known to be wrong with a job before anybody else is asked. All of it is named at once.

use super::gather::Gathered;
use crate::{Options, stored::new_id};
use signalbox_api::{
    convert::{Violations, check_embed_request, duration_from_proto, generate_request_from_proto},
    v1::{self, batch_item::Request},
};
use signalbox_batching::check_id;
use signalbox_ports::{Identity, Scope};
use signalbox_types::{Failure, shown};
use std::{collections::HashSet, time::Duration};

/// Longest that a job may take: money is reserved for it for as long.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A job that may be prepared.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) head: Head,
    pub(super) items: Vec<v1::BatchItem>,
}

/// Its settings.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) tenant_id: String,
    pub(super) job_id: String,
    pub(super) scene: String,
    pub(super) reference: String,
    pub(super) key_id: String,
    pub(super) trace_id: String,
    pub(super) completion_window: Duration,
    /// Of what was handed in.
    pub(super) digest: Vec<u8>,
}

/// The tenant whose jobs are meant. A key that belongs to none must name one.
pub(crate) fn whose(caller: &Identity, named: &str) -> Result<String, Failure> {
    let tenant_id = caller.tenant(named)?;
    if tenant_id.is_empty() && caller.scope != Scope::Open {
        return Err(Failure::invalid("tenant_id", "is required: the API key belongs to no tenant"));
    }
    of_tenant(tenant_id)?;
    Ok(tenant_id.to_owned())
}

/// Refuses what no tenant can be called.
pub(crate) fn of_tenant(tenant_id: &str) -> Result<(), Failure> {
    if tenant_id.len() > 128 || tenant_id.chars().any(char::is_control) {
        return Err(Failure::invalid("tenant_id", "must have at most 128 bytes and no control character"));
    }
    Ok(())
}

/// The job that is meant, of the tenant whose it is. What can be no id is not looked for.
pub(crate) fn which(caller: &Identity, tenant_id: &str, job_id: &str) -> Result<String, Failure> {
    let tenant_id = whose(caller, tenant_id)?;
    let mut violations = Violations::default();
    if job_id.is_empty() {
        violations.add("job_id", "is required");
    } else {
        named(job_id, || "job_id".to_owned(), &mut violations);
    }
    violations.into_result()?;
    Ok(tenant_id)
}

/// Checks the settings, which come before the items.
pub(super) fn settings(job: &v1::BatchJob, options: &Options) -> Result<(), Failure> {
    let mut violations = Violations::default();
    if !job.job_id.is_empty() {
        named(&job.job_id, || "job_id".to_owned(), &mut violations);
    }
    for (field, text, most) in [("scene", &job.scene, 128), ("reference", &job.reference, 512)] {
        violations.check(text.len() <= most, || field, || format!("has more than {most} bytes"));
        violations.check(!text.chars().any(char::is_control), || field, || "has a control character");
    }
    let window = completion_window(job, options);
    violations.check(window.is_some(), || "completion_window", || "must be above 0 and at most 30 days");
    violations.into_result()
}

fn completion_window(job: &v1::BatchJob, options: &Options) -> Option<Duration> {
    let Some(asked) = job.completion_window else { return Some(options.default_completion_window) };
    duration_from_proto(asked).filter(|window| !window.is_zero() && *window <= LONGEST)
}

fn named(id: &str, field: impl FnOnce() -> String, violations: &mut Violations) {
    if let Err(problem) = check_id(id) {
        violations.add(field(), problem.to_string());
    }
}

impl Order {
    /// Checks the items, and gives each what it leaves to its job.
    pub(super) fn new(
        Gathered { settings: job, mut items, digest }: Gathered,
        key_id: &str,
        trace_id: String,
        options: &Options,
    ) -> Result<Self, Failure> {
        let completion_window = completion_window(&job, options).unwrap_or(options.default_completion_window);
        let v1::BatchJob { mut job_id, tenant_id, scene, reference, .. } = job;
        if job_id.is_empty() {
            job_id = new_id();
        }
        let key_id = key_id.to_owned();
        let head = Head { tenant_id, job_id, scene, reference, key_id, trace_id, completion_window, digest };
        let mut violations = Violations::default();
        let mut seen = HashSet::with_capacity(items.len());
        for (index, item) in items.iter_mut().enumerate() {
            named(&item.item_id, || format!("items[{index}].item_id"), &mut violations);
            if !seen.insert(item.item_id.clone()) {
                let problem = || format!("`{}` is the id of another item, too", shown(&item.item_id));
                violations.check(false, || format!("items[{index}].item_id"), problem);
            }
            head.complete(item, &mut violations);
        }
        violations.into_result()?;
        Ok(Self { head, items })
    }
}

impl Head {
    /// Gives an item what it leaves to its job, and checks what it asks.
    fn complete(&self, item: &mut v1::BatchItem, violations: &mut Violations) {
        let (item_id, checked) = (
            &item.item_id,
            match &mut item.request {
                None => Err(Failure::invalid("request", "is required: generate or embed")),
                Some(Request::Generate(asked)) => {
                    let kept = self.settle(&mut asked.tenant_id, &mut asked.scene, &mut asked.reference);
                    (asked.lane, asked.timeout) = (v1::Lane::Unspecified.into(), None);
                    kept.and_then(|()| generate_request_from_proto(asked.clone()).map(|_| ()))
                        .map_err(|failure| within("generate", failure))
                }
                Some(Request::Embed(asked)) => {
                    let kept = self.settle(&mut asked.tenant_id, &mut asked.scene, &mut asked.reference);
                    asked.timeout = None;
                    kept.and_then(|()| check_embed_request(asked).map(|_| ()))
                        .map_err(|failure| within("embed", failure))
                }
            },
        );
        for violation in checked.err().into_iter().flat_map(|failure| failure.violations) {
            violations.add(in_item(item_id, &violation.field), violation.description);
        }
    }

    fn settle(
        &self,
        tenant_id: &mut String,
        scene: &mut String,
        reference: &mut String,
    ) -> Result<(), Failure> {
        if !tenant_id.is_empty() && *tenant_id != self.tenant_id {
            return Err(Failure::invalid("tenant_id", "is not the job's: leave it out"));
        }
        tenant_id.clone_from(&self.tenant_id);
        if scene.is_empty() {
            scene.clone_from(&self.scene);
        }
        if reference.is_empty() {
            reference.clone_from(&self.reference);
        }
        Ok(())
    }
}

fn within(what: &str, mut failure: Failure) -> Failure {
    failure
        .violations
        .iter_mut()
        .for_each(|violation| violation.field = format!("{what}.{}", violation.field));
    failure
}

/// A field of an item: callers know items by their ids.
pub(super) fn in_item(item_id: &str, field: &str) -> String {
    format!("items[{}].{field}", shown(item_id))
}
