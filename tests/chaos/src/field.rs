//! Everybody, running.

use crate::{
    bus::Bus,
    ingesters,
    ledger::{Account, Ledger},
    member::Member,
    strikes::Victim,
    told::Told,
};
use signalbox_testkit::{ClickHouseEngine, Signalbox};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// How accounts are brought from those who write them to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Two publishers, a NATS server, two ingesters, ClickHouse's engine.
    Nats,
    /// The same with three NATS servers that keep the stream together.
    Cluster,
    /// One process that writes accounts and stores them in a file.
    Embedded,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nats => "nats",
            Self::Cluster => "cluster",
            Self::Embedded => "embedded",
        })
    }
}

/// What is run.
#[derive(Debug, Clone)]
pub struct Wish {
    /// How.
    pub mode: Mode,
    /// Events in all.
    pub events: u64,
    /// Kills in all.
    pub kills: usize,
    /// Requests a second in all.
    pub rate: u64,
    /// What events and kills follow from.
    pub seed: u64,
    /// Whether the store is killed, too.
    pub store_dies: bool,
    /// Whether NATS is killed, too, where there is one.
    pub nats_dies: bool,
    /// The program `chaos`.
    pub program: PathBuf,
}

/// Everybody. Killed when dropped.
#[derive(Debug)]
pub(crate) struct Field {
    publishers: Vec<Member>,
    pub(crate) ingesters: Vec<Signalbox>,
    pub(crate) bus: Option<Bus>,
    pub(crate) engine: Option<ClickHouseEngine>,
    ledgers: Vec<Ledger>,
}

impl Field {
    /// Starts them.
    pub(crate) async fn start(wish: &Wish, dir: &Path, until: i64) -> Result<Self, String> {
        let publishers = if wish.mode == Mode::Embedded { 1 } else { 2 };
        let bus = Bus::start(wish.mode).await?;
        let engine = if bus.is_some() { Some(ClickHouseEngine::start().await) } else { None };
        let nats = bus.as_ref().map(Bus::urls).unwrap_or_default();
        let mut field =
            Self { publishers: Vec::new(), ingesters: Vec::new(), bus, engine, ledgers: Vec::new() };
        for publisher in 0..publishers {
            let ledger = Ledger { seed: wish.seed, publisher, events: wish.events / publishers, until };
            let dir = dir.join(format!("publisher-{publisher}"));
            let member = Member::publisher(&wish.program, dir, &ledger, wish.rate / publishers, &nats);
            field.publishers.push(member);
            field.ledgers.push(ledger);
        }
        if let Some(engine) = &field.engine {
            field.ingesters = ingesters::start(dir, &nats, engine).await?;
        }
        field.publishers.iter_mut().try_for_each(Member::start)?;
        Ok(field)
    }

    pub(crate) fn publishers(&self) -> usize {
        self.publishers.len()
    }

    /// How many events there are in all.
    pub(crate) fn events(&self) -> u64 {
        self.ledgers.iter().map(|ledger| ledger.events).sum()
    }

    /// Whom a strike may hit.
    pub(crate) fn victims(&self, wish: &Wish) -> Vec<Victim> {
        let publishers = (0..self.publishers.len()).map(Victim::Publisher);
        let ingesters = (0..self.ingesters.len()).map(Victim::Ingester);
        match wish.mode {
            Mode::Cluster => vec![Victim::Nats],
            Mode::Embedded => publishers.collect(),
            // NATS is one of five, and all that is under way hangs on it.
            Mode::Nats => publishers
                .chain(ingesters)
                .chain([Victim::Nats, Victim::Nats].into_iter().filter(|_| wish.nats_dies))
                .chain(wish.store_dies.then_some(Victim::Store))
                .collect(),
        }
    }

    pub(crate) async fn kill(&mut self, victim: Victim) -> Result<(), String> {
        match victim {
            Victim::Publisher(number) => member(&mut self.publishers, number)?.kill().await?,
            Victim::Ingester(number) => member(&mut self.ingesters, number)?.kill().await,
            Victim::Nats => {
                if let Some(bus) = &mut self.bus {
                    bus.kill().await;
                }
            }
            Victim::Store => {
                if let Some(engine) = &mut self.engine {
                    engine.kill().await;
                }
            }
        }
        Ok(())
    }

    pub(crate) async fn revive(&mut self, victim: Victim) -> Result<(), String> {
        match victim {
            Victim::Publisher(number) => member(&mut self.publishers, number)?.start()?,
            Victim::Ingester(number) => member(&mut self.ingesters, number)?.restart().await,
            Victim::Nats => {
                if let Some(bus) = &mut self.bus {
                    bus.revive().await;
                }
            }
            Victim::Store => {
                if let Some(engine) = &mut self.engine {
                    engine.restart().await;
                }
            }
        }
        Ok(())
    }

    /// How far all publishers together are.
    pub(crate) fn told(&mut self) -> Told {
        let mut all = Told::default();
        for told in self.publishers.iter_mut().map(Member::told) {
            all.published += told.published;
            all.confirmed += told.confirmed;
            all.longest = all.longest.max(told.longest);
        }
        all
    }

    /// Whoever ended by himself.
    pub(crate) fn failed(&mut self) -> Result<(), String> {
        self.publishers.iter_mut().find_map(Member::failed).map_or(Ok(()), Err)
    }

    /// What must be stored.
    pub(crate) fn account(&self) -> Account {
        let mut account = Account::new();
        self.ledgers.iter().for_each(|ledger| ledger.add_to(&mut account));
        account
    }

    /// Ends all publishers.
    pub(crate) async fn stop(&mut self) -> Result<(), String> {
        for member in &mut self.publishers {
            member.kill().await?;
        }
        Ok(())
    }
}

fn member<T>(members: &mut [T], number: usize) -> Result<&mut T, String> {
    members.get_mut(number).ok_or_else(|| format!("there is no member {number}"))
}
