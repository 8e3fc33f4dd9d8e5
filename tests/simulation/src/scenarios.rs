//! The worlds that reports and tests are about.

use crate::{Incident, Kind, Scenario, Vendor};
use std::time::Duration;

/// Vendors of the worlds, by index.
pub mod vendor {
    /// The cheapest, and slow.
    pub const ASPEN: usize = 0;
    /// Cheap.
    pub const BIRCH: usize = 1;
    /// In the middle.
    pub const CEDAR: usize = 2;
    /// Good and a little slow.
    pub const DOGWOOD: usize = 3;
    /// The fastest, and dear.
    pub const ELM: usize = 4;
}

/// Traffic for which the vendors below have twice the capacity, so that without any one of them the others suffice.
const FULL_RATE: f64 = 2_000.0;

const SECOND: Duration = Duration::from_secs(1);

/// Five vendors for so many requests a second, and nothing happens.
pub fn calm(rate: f64, length: Duration) -> Scenario {
    Scenario {
        name: "calm",
        seed: 4,
        rate,
        length,
        vendors: vendors(rate / FULL_RATE),
        incidents: Vec::new(),
        routers: 3,
        report_every: SECOND,
        routing: "{order: scored, target: 3s, expected_tokens: 110}",
    }
}

/// Ten minutes in which every vendor has a trouble of its own, one after the other.
pub fn troubled(rate: f64) -> Scenario {
    let scale = rate / FULL_RATE;
    let incident = |vendor, kind, from: u32, until: u32| Incident {
        vendor,
        kind,
        from: SECOND * from,
        until: SECOND * until,
    };
    let incidents = vec![
        incident(vendor::BIRCH, Kind::Outage, 60, 120),
        incident(vendor::ELM, Kind::BrownOut(6.0), 200, 260),
        incident(vendor::CEDAR, Kind::RateLimit(40.0 * scale), 320, 370),
        incident(vendor::ASPEN, Kind::Price(8.0), 420, 480),
        incident(vendor::DOGWOOD, Kind::Silence, 510, 540),
    ];
    Scenario { name: "troubled", incidents, ..calm(rate, SECOND * 600) }
}

/// One incident, after half a minute of calm and before a minute and a half of it.
pub fn one(kind: Kind, vendor: usize, lasts: Duration, rate: f64) -> Scenario {
    let from = SECOND * 30;
    let incidents = vec![Incident { vendor, kind, from, until: from + lasts }];
    Scenario { name: kind.name(), incidents, ..calm(rate, from + lasts + SECOND * 90) }
}

/// Vendors that together serve some 4,000 requests a second, times `scale`.
fn vendors(scale: f64) -> Vec<Vendor> {
    let vendor =
        |name, [first_token, per_token]: [u64; 2], per_second: f64, [input, output]: [f64; 2], quality| {
            let (first_token, per_token) =
                (Duration::from_millis(first_token), Duration::from_millis(per_token));
            // Some 113 tokens an answer on average.
            let seconds = first_token.as_secs_f64() + 113.0 * per_token.as_secs_f64();
            let knee = (per_second * scale * seconds).max(2.0);
            Vendor { name, first_token, per_token, knee, input, output, quality }
        };
    vec![
        vendor("aspen", [500, 15], 700.0, [0.15, 0.6], 0.85),
        vendor("birch", [400, 12], 900.0, [0.20, 0.8], 0.87),
        vendor("cedar", [350, 9], 800.0, [0.30, 1.2], 0.88),
        vendor("dogwood", [450, 13], 800.0, [0.35, 1.4], 0.93),
        vendor("elm", [250, 6], 800.0, [0.60, 2.4], 0.90),
    ]
}
