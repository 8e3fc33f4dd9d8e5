//! What thresholds do.

use signalbox_types::Tier;
use std::cmp::Ordering;

/// What happens at a threshold. Stricter ones compare greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The operators are told, once a period.
    Notify,
    /// Models above this tier are left out.
    LimitTier(Tier),
    /// Only cached answers and the batch lane.
    CacheOrBatchOnly,
    /// Only models that cost nothing.
    FreeOnly,
    /// Nothing more.
    Refuse,
}

impl Effect {
    /// Whether it changes what may be done, and does not only tell.
    pub fn acts(self) -> bool {
        self != Self::Notify
    }

    /// The best tier that it leaves, where it is about tiers.
    pub fn tier(self) -> Option<Tier> {
        match self {
            Self::LimitTier(tier) => Some(tier),
            _ => None,
        }
    }

    fn rank(self) -> (u8, u8) {
        match self {
            Self::Notify => (0, 0),
            Self::LimitTier(tier) => (1, cheapness(tier)),
            Self::CacheOrBatchOnly => (2, 0),
            Self::FreeOnly => (3, 0),
            Self::Refuse => (4, 0),
        }
    }
}

impl PartialOrd for Effect {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Effect {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

fn cheapness(tier: Tier) -> u8 {
    match tier {
        Tier::Premium => 0,
        Tier::Standard => 1,
        Tier::Economy => 2,
    }
}

/// The cheaper of two limits of the tier.
pub(super) fn cheaper(one: Option<Tier>, other: Option<Tier>) -> Option<Tier> {
    [one, other].into_iter().flatten().max_by_key(|tier| cheapness(*tier))
}

/// The tiers that are left below a limit, dearest first; all of them without one.
pub(super) fn tiers(limit: Option<Tier>) -> &'static [Tier] {
    match limit {
        None | Some(Tier::Premium) => &[Tier::Premium, Tier::Standard, Tier::Economy],
        Some(Tier::Standard) => &[Tier::Standard, Tier::Economy],
        Some(Tier::Economy) => &[Tier::Economy],
    }
}
