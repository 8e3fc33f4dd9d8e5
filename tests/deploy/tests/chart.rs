//! The Helm chart, rendered with every file of values there is, and judged without a cluster.

mod authorities;
mod clashes;
mod configuration;
mod disk;
mod documents;
mod golden;
mod manifests;
mod names;
mod network;
mod nulls;
mod openings;
mod policies;
mod references;
mod refusals;
mod renders;
mod scaling;
mod schema;
mod shapes;
mod values_table;
mod vendors;
