//! The image and the compose file: read by the tools of their makers and taken apart here, and then what would be in the
//! containers is started, as they would start it, without a container engine.

mod compose;
mod container;
mod context;
mod dockerfile;
mod files;
mod image;
mod roles;
mod services;
