//! Steps that nothing may come between.

use redis::Script;

#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) get: Script,
    pub(super) put: Script,
    pub(super) remove: Script,
    pub(super) erase: Script,
    pub(super) held: Script,
    pub(super) epochs: Script,
    pub(super) raise: Script,
    pub(super) swap: Script,
    pub(super) lead: Script,
    pub(super) renew: Script,
    pub(super) release: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        let about_entries = |script: &str| Script::new(&format!("{}{script}", include_str!("common.lua")));
        let about_epochs = |script: &str| about_entries(&format!("{}{script}", include_str!("primary.lua")));
        Self {
            get: about_entries(include_str!("get.lua")),
            put: about_entries(include_str!("put.lua")),
            remove: about_entries(include_str!("remove.lua")),
            erase: about_entries(include_str!("erase.lua")),
            held: about_entries(include_str!("held.lua")),
            epochs: about_epochs(include_str!("epochs.lua")),
            raise: about_epochs(include_str!("raise.lua")),
            swap: Script::new(include_str!("swap.lua")),
            lead: Script::new(include_str!("lead.lua")),
            renew: Script::new(include_str!("renew.lua")),
            release: Script::new(include_str!("release.lua")),
        }
    }
}
