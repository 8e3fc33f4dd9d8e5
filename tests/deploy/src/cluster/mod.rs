//! Rendered manifests, started as a cluster would start them, without one.
//!
//! [`privately`] gives a test a part of this machine of its own. In it, a [`Cluster`] is helm, the control plane, a node
//! and the network at once:
//!
//! - Every pod of every Deployment, StatefulSet and hook Job is a real process in a network and a file system of its
//!   own: the rendered command, variables, user, mounts and read-only root, and of this machine only what an image with
//!   libraries and certificates has. It is probed as rendered, started again when it is not alive, and stopped with the
//!   rendered sleep and time to finish.
//! - A name server answers for services. A headless one means its ready pods; one with an address of its own has that,
//!   and connections to it are led to ready pods in turn, as kube-proxy does, to the port that is meant.
//! - What is outside of the cluster, such as a database, is a name that leads to a port of this machine.
//!
//! What is rendered and not known here is refused. Not there: limits of processor and memory, policies of the network,
//! the scheduler, and the API server.

mod container;
mod dns;
mod env;
mod forward;
mod image;
mod network;
mod objects;
mod pod;
mod private;
mod probe;
mod registry;
mod release;
mod services;
mod spec;
mod start;
mod volumes;

pub use image::Image;
pub use pod::Pod;
pub use private::privately;
pub use release::Cluster;
