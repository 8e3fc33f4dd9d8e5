//! Where a vendor is, and how it is told who calls.

use super::CommandError;
use signalbox_kit::{
    catalog::Catalog,
    config::{BaseUrl, Environment},
};
use signalbox_types::{ModelRef, VendorKind};
use signalbox_vendors::codec_for;

/// Stands for the key.
const MASK: &str = "***";

/// The target of a call, without secrets.
#[derive(Debug)]
pub(super) struct Place {
    /// Its address.
    pub(super) base_url: String,
    /// The header with the key, masked; none where no key is sent.
    pub(super) credentials: Option<(&'static str, String)>,
}

impl Place {
    /// Where calls to the model go. A vendor without a key here is shown as it would be called with one.
    pub(super) fn of(catalog: &Catalog, env: &Environment, model: &ModelRef) -> Result<Self, CommandError> {
        let codec = codec_for(kind(catalog, model)?);
        let config = catalog.vendor(&model.vendor);
        let real =
            catalog.vendors(env).into_iter().find(|vendor| vendor.name == model.vendor && !vendor.simulated);
        let keyed = match &real {
            Some(settings) => settings.key.is_some(),
            None => config.is_some_and(|config| config.api_key.is_some()),
        };
        let written = config.and_then(|config| match config.base_url.as_ref()? {
            BaseUrl::Literal(url) => {
                // As the catalogue does for a vendor in use: paths begin with the version.
                let url = url.trim_end_matches('/');
                Some(url.strip_suffix("/v1").unwrap_or(url).to_owned())
            }
            BaseUrl::Environment(_) => None,
        });
        let default = codec.default_base_url().unwrap_or("http://ADDRESS-NOT-CONFIGURED");
        let base_url = real.and_then(|settings| settings.base_url).or(written);
        Ok(Self {
            base_url: without_user(&base_url.unwrap_or_else(|| default.to_owned())),
            credentials: keyed.then(|| codec.credentials(MASK)),
        })
    }
}

/// The wire format that the model's vendor speaks.
pub(super) fn kind(catalog: &Catalog, model: &ModelRef) -> Result<VendorKind, CommandError> {
    let vendor = catalog.vendor(&model.vendor);
    vendor
        .map(|vendor| vendor.kind)
        .ok_or_else(|| CommandError::new(format!("there is no vendor `{}`", model.vendor)))
}

/// An address whose user and password are masked: no good one has them, and a bad one is not to be repeated.
fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest.get(..end).and_then(|authority| authority.rfind('@')) {
        Some(at) => format!("{scheme}://{MASK}{}", rest.get(at..).unwrap_or_default()),
        None => url.to_owned(),
    }
}
