//! Leases in places that stay the same for as long as somebody holds something of them.

use super::lease::Lease;
use std::time::Instant;

#[derive(Debug, Default)]
pub(super) struct Shelf {
    places: Vec<Option<Lease>>,
}

impl Shelf {
    pub(super) fn get(&self, place: usize) -> Option<&Lease> {
        self.places.get(place)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: usize) -> Option<&mut Lease> {
        self.places.get_mut(place)?.as_mut()
    }

    pub(super) fn put(&mut self, lease: Lease) -> usize {
        if let Some(place) = self.places.iter().position(Option::is_none) {
            self.places[place] = Some(lease);
            return place;
        }
        self.places.push(Some(lease));
        self.places.len() - 1
    }

    pub(super) fn find(&self, lease_id: &str) -> Option<usize> {
        self.places.iter().position(|lease| lease.as_ref().is_some_and(|lease| &*lease.id == lease_id))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Lease> {
        self.places.iter().flatten()
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Lease> {
        self.places.iter_mut().flatten()
    }

    pub(super) fn clear_out(&mut self, now: Instant) {
        for place in &mut self.places {
            if place.as_ref().is_some_and(|lease| lease.is_over(now)) {
                *place = None;
            }
        }
    }
}
