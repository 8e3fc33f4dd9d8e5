//! Who is believed, and what can be read on the way.

mod arrows;
mod drain;
mod files;
mod load;
mod public;
mod raw;
mod rotation;
mod start;
mod strangers;
mod tenants;
