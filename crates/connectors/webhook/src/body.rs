//! What is posted.

use serde_json::value::RawValue;
use signalbox_api::json::to_json_line;
use signalbox_ports::{AlertNews, NotTold};

/// Version of the form. It rises only when a receiver that skips fields it does not know would misread it.
const VERSION: u32 = 1;

/// `{"version", "id", "text", "alert"}`, where `alert` is the JSON form of `signalbox.v1.Alert`.
pub(crate) fn json(news: &AlertNews) -> Result<String, NotTold> {
    let never = |error: &dyn std::fmt::Display| NotTold::Ever(format!("the alert has no JSON form: {error}"));
    let alert = to_json_line(&news.alert).map_err(|error| never(&error))?;
    let alert = RawValue::from_string(alert).map_err(|error| never(&error))?;
    let text = &news.alert.description;
    let body = serde_json::json!({ "version": VERSION, "id": news.id, "text": text, "alert": alert });
    Ok(body.to_string())
}
