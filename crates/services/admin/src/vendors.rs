//! The vendors of this process, page by page.

use arc_swap::ArcSwap;
use signalbox_api::v1;
use signalbox_kit::catalog::Catalog;
use signalbox_types::{Failure, VendorKind};

/// Entries on a page when the caller does not say.
const PAGE: usize = 100;
/// Most entries on a page.
const LARGEST_PAGE: usize = 1000;

/// The vendors in use. Replaced whole when the configuration changes.
pub type Vendors = ArcSwap<Vec<VendorFacts>>;

/// What operators may know of a vendor in use: never its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorFacts {
    /// Its name in the catalogue.
    pub name: String,
    /// The wire format it speaks.
    pub kind: VendorKind,
    /// Where it is; empty where that means nothing, as for a vendor simulated in this process.
    pub base_url: String,
    /// Whether a key is set.
    pub has_key: bool,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Calls under way at most.
    pub max_concurrency: usize,
}

/// One page, ordered by name. The page token is the last name of the page before.
pub(crate) fn page(
    vendors: &[VendorFacts],
    catalog: &Catalog,
    request: &v1::ListVendorsRequest,
) -> Result<v1::ListVendorsResponse, Failure> {
    let size = page_size(request.page_size)?;
    let after = request.page_token.as_str();
    let mut rest: Vec<&VendorFacts> =
        vendors.iter().filter(|vendor| after.is_empty() || vendor.name.as_str() > after).collect();
    rest.sort_by(|one, other| one.name.cmp(&other.name));
    let more = rest.len() > size;
    rest.truncate(size);
    let next_page_token = match rest.last() {
        Some(last) if more => last.name.clone(),
        _ => String::new(),
    };
    let vendors = rest.into_iter().map(|vendor| describe(vendor, catalog)).collect();
    Ok(v1::ListVendorsResponse { vendors, next_page_token })
}

/// Entries on a page, by what the caller wants.
pub(crate) fn page_size(wanted: i32) -> Result<usize, Failure> {
    match usize::try_from(wanted) {
        Ok(0) => Ok(PAGE),
        Ok(size) => Ok(size.min(LARGEST_PAGE)),
        Err(_) => Err(Failure::invalid("page_size", "must not be negative")),
    }
}

fn describe(vendor: &VendorFacts, catalog: &Catalog) -> v1::Vendor {
    let models = catalog.models().iter().filter(|model| *model.reference.vendor == *vendor.name).count();
    v1::Vendor {
        name: vendor.name.clone(),
        kind: vendor.kind.name().to_owned(),
        base_url: vendor.base_url.clone(),
        has_key: vendor.has_key,
        simulated: vendor.simulated,
        max_concurrency: u32::try_from(vendor.max_concurrency).unwrap_or(u32::MAX),
        models: u32::try_from(models).unwrap_or(u32::MAX),
    }
}
