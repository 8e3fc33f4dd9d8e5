//! `signalbox health`: whether a server serves. An image that has no other program checks its health by it.

use super::{CommandError, connect::ServerArgs, failures, print};
use std::time::Duration;
use tokio::time::timeout;
use tonic::{Code, Status, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

const HELP: &str = "\
No API key is needed. Ends with 0 where the answer is SERVING, and with 1 else, also when there is none within two seconds.
Asks at server.listen, at server.health_listen, or wherever else the server answers gRPC in the clear.";

/// How long an answer may take, the connection included.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whom to ask.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct HealthArgs {
    /// One of the server's services, as in signalbox.v1.RouterService; the whole process where left out
    #[arg(value_name = "SERVICE", default_value = "", hide_default_value = true)]
    service: String,
    #[command(flatten)]
    server: ServerArgs,
}

/// Asks, and fails unless the answer is that it serves.
pub(crate) async fn run(args: HealthArgs) -> Result<(), CommandError> {
    let ask = async { told(args.server.health().await?, &args.service).await };
    let late = |_| CommandError::new(format!("{} does not answer within {PATIENCE:?}", args.server.server));
    timeout(PATIENCE, ask).await.map_err(late)??;
    print("SERVING")
}

async fn told(mut client: HealthClient<Channel>, service: &str) -> Result<(), CommandError> {
    let what = if service.is_empty() { "the server" } else { service };
    let refused = |status: Status| match status.code() {
        Code::NotFound => CommandError::new(format!("the server has no service `{service}`")),
        _ => failures::from_call(&status),
    };
    let request = HealthCheckRequest { service: service.to_owned() };
    match client.check(request).await.map_err(refused)?.into_inner().status() {
        ServingStatus::Serving => Ok(()),
        status => Err(CommandError::new(format!("{what} says {}", status.as_str_name()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use signalbox_kit::{access::LoneAuthenticator, serve};
    use std::{net::TcpListener, sync::Arc};
    use tokio_util::sync::CancellationToken;
    use tonic::service::Routes;

    const ROUTER: &str = "signalbox.v1.RouterService";

    /// A server that serves by `status`, as processes answer probes, and its address.
    async fn server(status: tonic_health::ServingStatus) -> String {
        let (reporter, health) = tonic_health::server::health_reporter();
        reporter.set_service_status("", status).await;
        reporter.set_service_status(ROUTER, status).await;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let everybody = Arc::new(LoneAuthenticator::new(None, false));
        let routes = Routes::new(health).prepare();
        let serving = serve::serve(
            listener,
            serve::Entrance::Clear(everybody),
            routes,
            CancellationToken::new(),
            Duration::ZERO,
        );
        tokio::spawn(serving);
        address
    }

    #[derive(Debug, Parser)]
    struct Typed {
        #[command(flatten)]
        args: HealthArgs,
    }

    async fn ask(server: &str, service: &str) -> Result<(), String> {
        let typed = Typed::parse_from(["health", "--server", server, service]);
        run(typed.args).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_server_that_serves_is_healthy_and_so_are_its_services() {
        let server = server(tonic_health::ServingStatus::Serving).await;
        assert_eq!(ask(&server, "").await, Ok(()));
        assert_eq!(ask(&server, ROUTER).await, Ok(()));
        let unknown = ask(&server, "signalbox.v1.Batch").await;
        assert_eq!(unknown, Err("the server has no service `signalbox.v1.Batch`".to_owned()));
    }

    #[tokio::test]
    async fn one_that_does_not_is_not_and_says_so() {
        let server = server(tonic_health::ServingStatus::NotServing).await;
        assert_eq!(ask(&server, "").await, Err("the server says NOT_SERVING".to_owned()));
        assert_eq!(ask(&server, ROUTER).await, Err(format!("{ROUTER} says NOT_SERVING")));
    }

    #[tokio::test]
    async fn nobody_is_waited_for_without_end() {
        // It takes connections, and never says a word.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", silent.local_addr().unwrap());
        tokio::time::pause();
        assert_eq!(ask(&server, "").await, Err(format!("{server} does not answer within 2s")));
    }
}
