//! The way to a running server.

mod key;
mod tls;

pub(crate) use key::VARIABLE as KEY_VARIABLE;

use super::{CommandError, environment};
use key::Key;
use signalbox_api::v1::{
    admin_service_client::AdminServiceClient, batch_service_client::BatchServiceClient,
    budget_service_client::BudgetServiceClient, cache_service_client::CacheServiceClient,
    router_service_client::RouterServiceClient, usage_service_client::UsageServiceClient,
};
use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Duration,
};
use tonic::{
    service::interceptor::InterceptedService,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::health_client::HealthClient;

/// The way to a server, on which each call says who makes it.
pub(crate) type Way = InterceptedService<Channel, Key>;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Largest message read: more than any server sends unless told to.
const MAX_MESSAGE_BYTES: usize = 256 * 1024 * 1024;

/// Which server to ask.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ServerArgs {
    /// Address of the server
    #[arg(
        long,
        global = true,
        env = "SIGNALBOX_SERVER",
        default_value = "http://127.0.0.1:50051",
        value_name = "URL"
    )]
    pub(crate) server: String,
    /// Authorities to trust where the address is https://, in place of this machine's own (PEM)
    #[arg(long, global = true, env = "SIGNALBOX_CA_FILE", value_name = "FILE")]
    ca_file: Option<PathBuf>,
}

impl ServerArgs {
    /// A client of the server's public service.
    pub(crate) async fn router(&self) -> Result<RouterServiceClient<Way>, CommandError> {
        Ok(RouterServiceClient::new(self.way().await?).max_decoding_message_size(MAX_MESSAGE_BYTES))
    }

    /// A client of the server's service for operators.
    pub(crate) async fn admin(&self) -> Result<AdminServiceClient<Way>, CommandError> {
        Ok(AdminServiceClient::new(self.way().await?))
    }

    /// A client of the accounts.
    pub(crate) async fn usage(&self) -> Result<UsageServiceClient<Way>, CommandError> {
        Ok(UsageServiceClient::new(self.way().await?).max_decoding_message_size(MAX_MESSAGE_BYTES))
    }

    /// A client of tenants, keys and budgets.
    pub(crate) async fn budget(&self) -> Result<BudgetServiceClient<Way>, CommandError> {
        Ok(BudgetServiceClient::new(self.way().await?).max_decoding_message_size(MAX_MESSAGE_BYTES))
    }

    /// A client of the cache.
    pub(crate) async fn cache(&self) -> Result<CacheServiceClient<Way>, CommandError> {
        Ok(CacheServiceClient::new(self.way().await?))
    }

    /// A client of work that can wait.
    pub(crate) async fn batch(&self) -> Result<BatchServiceClient<Way>, CommandError> {
        Ok(BatchServiceClient::new(self.way().await?).max_decoding_message_size(MAX_MESSAGE_BYTES))
    }

    /// A client that asks whether the server serves. No key goes along, since none is asked for.
    pub(crate) async fn health(&self) -> Result<HealthClient<Channel>, CommandError> {
        Ok(HealthClient::new(channel(&self.server, self.ca_file.as_deref()).await?))
    }

    async fn way(&self) -> Result<Way, CommandError> {
        let key = Key::from_environment(&environment())?;
        Ok(InterceptedService::new(channel(&self.server, self.ca_file.as_deref()).await?, key))
    }
}

/// A connection to `server`, as in `http://127.0.0.1:50051` or `https://signalbox.example:50051`. What is left out is
/// `https://` where there is a file of authorities, and else `http://`.
async fn channel(server: &str, ca_file: Option<&Path>) -> Result<Channel, CommandError> {
    let url = match (server.contains("://"), ca_file) {
        (true, _) => server.to_owned(),
        (false, Some(_)) => format!("https://{server}"),
        (false, None) => format!("http://{server}"),
    };
    let encrypted = url.starts_with("https://");
    if !encrypted && !url.starts_with("http://") {
        let message = format!("`{server}` is not an address as in http://127.0.0.1:50051");
        return Err(CommandError::new(message));
    }
    if !encrypted && ca_file.is_some() {
        let message = format!("`{server}` is spoken to in the clear: write https://, or leave --ca-file out");
        return Err(CommandError::new(message));
    }
    let endpoint = Endpoint::from_shared(url)
        .map_err(|error| CommandError::new(format!("`{server}` is not an address: {}", root(&error))))?
        .connect_timeout(CONNECT_TIMEOUT);
    let connected = match encrypted {
        true => endpoint.connect_with_connector(tls::connector(ca_file)?).await,
        false => endpoint.connect().await,
    };
    connected.map_err(|error| unreachable(server, ca_file.is_some(), &error))
}

fn unreachable(server: &str, has_ca_file: bool, error: &(dyn Error + 'static)) -> CommandError {
    let message = match tls::refusal(error) {
        Some(refusal) => format!("{server}: {}", tls::advice(refusal, has_ca_file)),
        None => format!("nothing answers at {server}: is `make run` running?"),
    };
    CommandError::new(message).with_details([root(error)])
}

/// The innermost cause, which says most.
pub(super) fn root(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[tokio::test]
    async fn a_server_that_is_not_there_is_said_so() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = channel(&free.to_string(), None).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("nothing answers at {free}: is `make run` running?")), "{error}");
        assert!(error.contains("refused"), "{error}");
    }

    #[tokio::test]
    async fn an_address_that_is_none_is_refused() {
        for address in ["ftp://x", "http://", "https://", "two words"] {
            let error = channel(address, None).await.unwrap_err().to_string();
            assert!(error.contains(address) && error.contains("is not an address"), "{error}");
        }
    }
}
