//! Random calls, compared with a model that is as simple as can be.

use super::{
    Fresh,
    support::{World, bare, digest, near_entry, partition},
};
use crate::random::Random;
use signalbox_kit::Clock;
use signalbox_ports::cache::{Digest, Entry, Partition, Scope};
use std::{collections::BTreeMap, sync::Arc};

const SEEDS: u64 = 3;
const CALLS: u64 = 400;

/// What a key leads to.
#[derive(Clone)]
enum Leads {
    Entry(Box<Entry>, u64),
    Alias(Digest, u64),
}

/// What was put, when, and what leads to it.
#[derive(Default)]
struct Model {
    keys: BTreeMap<(Digest, Digest), Leads>,
    puts: u64,
}

impl Model {
    fn put(&mut self, entry: &Entry, aliases: &[Digest]) {
        self.puts += 1;
        let tenant = entry.partition.tenant;
        self.keys.insert((tenant, entry.key), Leads::Entry(Box::new(entry.clone()), self.puts));
        for alias in aliases.iter().filter(|alias| **alias != entry.key) {
            self.keys.insert((tenant, *alias), Leads::Alias(entry.key, self.puts));
        }
    }

    fn get(&self, tenant: Digest, key: Digest) -> Option<&Entry> {
        match self.keys.get(&(tenant, key))? {
            Leads::Entry(entry, _) => Some(entry),
            Leads::Alias(key, put) => match self.keys.get(&(tenant, *key))? {
                Leads::Entry(entry, at) if at == put => Some(entry),
                _ => None,
            },
        }
    }

    fn near(&self, partition: &Partition) -> Vec<Digest> {
        let entries = self.keys.values().filter_map(|leads| match leads {
            Leads::Entry(entry, _) if entry.partition == *partition && entry.vector.is_some() => {
                Some(entry.key)
            }
            _ => None,
        });
        entries.collect()
    }

    fn erase(&mut self, tenant: Digest, scope: Option<Scope>) -> u64 {
        let before = self.keys.len();
        self.keys.retain(|(of, _), leads| match leads {
            Leads::Entry(entry, _) => *of != tenant || !is_under(entry, scope),
            Leads::Alias(..) => true,
        });
        (before - self.keys.len()) as u64
    }
}

fn is_under(entry: &Entry, scope: Option<Scope>) -> bool {
    match scope {
        None | Some(Scope::Tenant) => true,
        Some(Scope::Task(task)) => entry.partition.task == task,
        Some(Scope::Locale(locale)) => entry.partition.locale == locale,
        Some(scope) => entry.epochs.iter().any(|(of, _)| *of == scope),
    }
}

/// Where entries differ in as little as they can.
fn any_partition(random: &mut Random) -> Partition {
    let mut here = partition(random.below(2));
    if random.percent(30) {
        here.task = digest(90 + random.below(2));
    }
    if random.percent(30) {
        here.locale = digest(90 + random.below(2));
    }
    here
}

fn any_entry(random: &mut Random, call: u64) -> Entry {
    let here = any_partition(random);
    let vector = [1.0, random.below(9) as f32, random.below(9) as f32];
    let mut entry = near_entry(here, random.below(12), &vector);
    if random.percent(20) {
        entry.vector = None;
    }
    if random.percent(30) {
        entry.epochs.push((Scope::Reference(digest(90 + random.below(2))), 0));
    }
    entry.sealed = format!("{call}").into_bytes();
    entry
}

/// Each is asked for all that could be found after every change.
pub async fn any_calls_give_the_models_answers(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    for seed in 0..SEEDS {
        let (world, mut model) = (World::new(fresh).await, Model::default());
        let mut random = Random::new(3, seed);
        for call in 0..CALLS {
            let entry = any_entry(&mut random, call);
            let tenant = entry.partition.tenant;
            match random.below(100) {
                0..60 => {
                    let aliases: Vec<_> = (0..random.below(3)).map(|_| digest(random.below(14))).collect();
                    world.put(&entry, &aliases).await;
                    model.put(&entry, &aliases);
                }
                60..80 => {
                    let was = matches!(model.keys.remove(&(tenant, entry.key)), Some(Leads::Entry(..)));
                    let removed = world.store.remove(tenant, entry.key).await.unwrap();
                    assert!(removed || !was);
                }
                80..95 => {}
                _ => {
                    let scope = [
                        None,
                        Some(Scope::Task(digest(90))),
                        Some(Scope::Locale(digest(91))),
                        Some(Scope::Reference(digest(90))),
                    ][random.below(4) as usize];
                    let erased = world.store.erase(tenant, scope).await.unwrap();
                    assert_eq!(erased, model.erase(tenant, scope), "{scope:?}");
                }
            }
            compare(&world, &model, &mut random, tenant).await;
        }
    }
}

async fn compare(world: &World, model: &Model, random: &mut Random, tenant: Digest) {
    let key = digest(random.below(14));
    assert_eq!(world.get(tenant, &[key]).await, model.get(tenant, key).map(bare));
    let here = any_partition(random);
    let mut near = world.near(&here, &[1.0, 0.0, 0.0], 50).await;
    near.sort_unstable();
    assert_eq!(near, model.near(&here));
}
