//! Anything that may be asked, of a limiter and of the one in memory, whose buckets have proofs of their own.

use super::{
    Fresh,
    support::{World, ask, by},
};
use crate::random::Random;
use signalbox_api::v1::rate_slice::Level;
use signalbox_kit::Clock;
use signalbox_ports::RateAsk;
use signalbox_rates::MemoryRates;
use std::{sync::Arc, time::Duration};

/// The answers are the same, to the last token and millisecond.
pub async fn any_takes_and_returns_give_the_models_answers(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let model = World::beside(&world, |clock| Arc::new(MemoryRates::new(clock)));
    for round in 0..60 {
        let mut random = Random::new(17, round);
        for step in 0..60 {
            let time = Duration::from_millis(random.below(4) * random.logarithmic(1, 40_000));
            if random.percent(2) {
                world.set_back(time);
            } else {
                world.pass(time);
            }
            let asks = any_asks(&mut random, round);
            if random.percent(25) {
                let (requests, tokens) = (random.below(40), random.logarithmic(1, 50_000));
                let concurrent = random.below(4) as u32;
                world.give_back(&asks[0], requests, tokens, concurrent).await;
                model.give_back(&asks[0], requests, tokens, concurrent).await;
            } else if random.percent(10) {
                assert_eq!(world.renew(&asks[0]).await, model.renew(&asks[0]).await);
            } else {
                let tokens = random.below(2) * random.logarithmic(1, 100_000);
                let (answer, expected) =
                    (world.take_all(&asks, tokens).await, model.take_all(&asks, tokens).await);
                assert_eq!(answer, expected, "round {round}, step {step}: {tokens} tokens of {asks:#?}");
            }
        }
    }
}

/// One to three limits of a tenant, as one replica asks for them.
fn any_asks(random: &mut Random, round: u64) -> Vec<RateAsk> {
    let replica = random.below(4) as u32;
    let priority = (random.below(4) as i32, 3);
    let under_way = random.below(2) as u32 * random.below(8) as u32;
    // Most limits stay what they are.
    let times = 1 + u64::from(random.percent(4));
    let levels = [(Level::Tenant, ""), (Level::Scene, "s"), (Level::Key, "k")];
    let limit = |(at, (level, name)): (usize, (Level, &str))| {
        let mut own = Random::new(round, at as u64);
        let concurrent = own.below(2) * own.logarithmic(1, 60) * times;
        let tokens = own.below(3) * own.logarithmic(10, 300_000) * times;
        let requests = own.below(3) * own.logarithmic(1, 2_000) * times;
        RateAsk {
            tenant_id: format!("tenant-{round}"),
            level,
            name: name.to_owned(),
            priority,
            under_way,
            ttl: Duration::from_secs(20 + 20 * u64::from(replica)),
            ..by(replica, &ask(requests as u32, tokens, concurrent as u32))
        }
    };
    let count = 1 + random.below(3) as usize;
    levels.into_iter().enumerate().take(count).map(limit).collect()
}
