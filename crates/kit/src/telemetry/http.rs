//! `/metrics`, `/livez` and `/readyz` over plain HTTP.

use super::metrics;
use crate::readiness::Readiness;
use axum::{Router, http::StatusCode, routing::get};
use std::{io, net::TcpListener};

/// Serves until dropped: a process that drains is watched too.
pub async fn serve(listener: TcpListener, readiness: Readiness) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let ready = move || {
        let (mut told, noted) = (readiness.missing(), readiness.noted());
        let status = if told.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        if told.is_empty() {
            told.push("ready".to_owned());
        }
        told.extend(noted.into_iter().map(|note| format!("{note} (goes on without)")));
        std::future::ready((status, told.join("\n") + "\n"))
    };
    let routes = Router::new()
        .route("/metrics", get(|| std::future::ready(metrics::text())))
        .route("/livez", get(|| std::future::ready("alive\n")))
        .route("/readyz", get(ready));
    axum::serve(listener, routes).await
}
