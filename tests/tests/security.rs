//! Who is believed, and what can be read on the way.

mod raw;
mod tenants;
