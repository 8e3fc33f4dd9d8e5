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
        let missing = readiness.missing();
        let status = if missing.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        std::future::ready((
            status,
            if missing.is_empty() { "ready\n".to_owned() } else { missing.join("\n") + "\n" },
        ))
    };
    let routes = Router::new()
        .route("/metrics", get(|| std::future::ready(metrics::text())))
        .route("/livez", get(|| std::future::ready("alive\n")))
        .route("/readyz", get(ready));
    axum::serve(listener, routes).await
}
