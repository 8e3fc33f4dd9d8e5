//! What can be had at best: by one who knows how every vendor is.

use crate::{record::Ask, world::World};

/// The vendors that will serve at once, the cheapest first; then the others.
///
/// It knows every vendor's condition and load, yet not the future: a vendor may fail or fill up while it answers.
pub(crate) fn order(world: &World, ask: Ask, vendors: &mut [usize]) {
    vendors
        .sort_by_key(|vendor| (!world.has_room(*vendor), world.scenario.cost(*vendor, ask.number, ask.at)));
}
