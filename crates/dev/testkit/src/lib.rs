//! Signalbox as its users meet it: real processes, reached over TCP, with simulated vendors, a real model and a
//! trace receiver beside them.
//!
//! A test body takes a [`Topology`] and works in a [`World`]; [`both_topologies!`] runs it in one process and as
//! separate ones, and `make test-up` in a system that is up.

#![expect(clippy::panic, reason = "a panic is the failure message of a test")]

pub mod ask;
pub mod metrics;
pub mod otlp;
pub mod real_encoder;
pub mod real_model;
pub mod refusal;

mod certificates;
mod clickhouse;
mod deployment;
mod files;
mod fleet;
mod given_up;
mod http;
mod keyed;
mod nats;
mod nats_cluster;
mod postgres;
mod process;
mod proxy;
mod redis;
mod signalbox;
mod up;
mod vendorsim;
mod wait;
mod workspace;
mod world;

pub use certificates::Certificates;
pub use clickhouse::ClickHouseEngine;
pub use deployment::{Deployment, Topology};
pub use files::merge;
pub use fleet::{Fleet, FleetSize};
pub use given_up::some_steps;
pub use http::get;
pub use keyed::{Key, Keyed};
pub use nats::NatsServer;
pub use nats_cluster::NatsCluster;
pub use postgres::PostgresServer;
pub use proxy::Proxy;
pub use redis::RedisServer;
pub use signalbox::{Client, Options, Signalbox};
pub use up::own;
pub use vendorsim::Vendorsim;
pub use wait::{eventually, eventually_some};
pub use workspace::{built, tool, workspace};
pub use world::{KEYS, World, at_simulator, at_vendors};

/// Makes tests of every body, an `async fn(Topology)`: one with all roles in one process, one with each role in
/// processes of its own, and one in the system that `make up` has started, which runs where `SIGNALBOX_UP` names it
/// (`make test-up`).
///
/// ```
/// use signalbox_testkit::{Topology, both_topologies};
///
/// async fn a_request_is_answered(_topology: Topology) {}
///
/// both_topologies!(a_request_is_answered);
/// ```
#[macro_export]
macro_rules! both_topologies {
    ($($body:ident),+ $(,)?) => {
        #[cfg(test)]
        mod all_in_one {
            $(
                #[tokio::test]
                async fn $body() {
                    super::$body($crate::Topology::AllInOne).await;
                }
            )+
        }

        #[cfg(test)]
        mod remote {
            $(
                #[tokio::test]
                async fn $body() {
                    super::$body($crate::Topology::Remote).await;
                }
            )+
        }

        #[cfg(test)]
        mod up {
            $(
                #[tokio::test]
                #[ignore = "in a system that is up: `make test-up`"]
                async fn $body() {
                    super::$body($crate::Topology::Up).await;
                }
            )+
        }
    };
}
