//! Drills, page by page.

use crate::vendors::page_size;
use signalbox_api::v1;
use signalbox_types::Failure;

/// One page, newest first. The page token is the last name of the page before.
pub(crate) fn page(
    drills: Vec<v1::Drill>,
    request: &v1::ListDrillsRequest,
) -> Result<v1::ListDrillsResponse, Failure> {
    let size = page_size(request.page_size)?;
    let after = request.page_token.as_str();
    let begin =
        match after {
            "" => 0,
            last => drills.iter().position(|drill| drill.name == last).map(|at| at + 1).ok_or_else(|| {
                Failure::invalid("page_token", "is none of this list; begin anew without it")
            })?,
        };
    let mut rest = drills.into_iter().skip(begin);
    let drills: Vec<v1::Drill> = rest.by_ref().take(size).collect();
    let next_page_token = match (drills.last(), rest.next()) {
        (Some(last), Some(_)) => last.name.clone(),
        _ => String::new(),
    };
    Ok(v1::ListDrillsResponse { drills, next_page_token })
}
