//! What the cache's own arithmetic costs: `cargo bench -p signalbox-caching`.

fn main() {}
