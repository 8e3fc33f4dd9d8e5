//! Faults of drills.

use super::{duration_from_proto, duration_to_proto};
use crate::v1::{self, fault::Fault};
use prost_types::Duration as ProtoDuration;
use signalbox_types::{DrillFault, Failure};
use std::time::Duration;

/// Longest delay or pause.
const LONGEST: Duration = Duration::from_secs(60);

/// Reads a fault; a failure names the field below `at`.
pub fn drill_fault_from_proto(wire: Option<v1::Fault>, at: &str) -> Result<DrillFault, Failure> {
    let fault = wire.and_then(|wire| wire.fault).ok_or_else(|| {
        Failure::invalid(at, "needs one of `status`, `delay`, `cut_after_tokens` and `trickle`")
    })?;
    match fault {
        Fault::Status(status) => match u16::try_from(status) {
            Ok(status @ 400..=599) => Ok(DrillFault::Status(status)),
            _ => Err(Failure::invalid(format!("{at}.status"), format!("{status} is not within 400 to 599"))),
        },
        Fault::Delay(delay) => wait(delay, || format!("{at}.delay")).map(DrillFault::Delay),
        Fault::CutAfterTokens(events) => Ok(DrillFault::CutAfter(events)),
        Fault::Trickle(pause) => wait(pause, || format!("{at}.trickle")).map(DrillFault::Trickle),
    }
}

fn wait(wire: ProtoDuration, field: impl FnOnce() -> String) -> Result<Duration, Failure> {
    let wait = duration_from_proto(wire).filter(|wait| !wait.is_zero() && *wait <= LONGEST);
    wait.ok_or_else(|| Failure::invalid(field(), format!("must be more than 0 and at most {LONGEST:?}")))
}

/// A fault on the wire.
pub fn drill_fault_to_proto(fault: DrillFault) -> v1::Fault {
    let fault = match fault {
        DrillFault::Status(status) => Fault::Status(status.into()),
        DrillFault::Delay(delay) => Fault::Delay(duration_to_proto(delay)),
        DrillFault::CutAfter(events) => Fault::CutAfterTokens(events),
        DrillFault::Trickle(pause) => Fault::Trickle(duration_to_proto(pause)),
    };
    v1::Fault { fault: Some(fault) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fault: Fault) -> Result<DrillFault, String> {
        let read = drill_fault_from_proto(Some(v1::Fault { fault: Some(fault) }), "drill.fault");
        read.map_err(|failure| failure.violations[0].field.clone())
    }

    #[test]
    fn a_fault_survives_the_way_over_the_wire() {
        let second = Duration::from_secs(1);
        for fault in [
            DrillFault::Status(429),
            DrillFault::Delay(second),
            DrillFault::CutAfter(0),
            DrillFault::Trickle(second),
        ] {
            let wire = drill_fault_to_proto(fault);
            assert_eq!(drill_fault_from_proto(Some(wire), "fault"), Ok(fault));
        }
    }

    #[test]
    fn what_is_no_fault_is_refused_with_its_field() {
        for status in [0, 200, 399, 600, 70_000] {
            assert_eq!(read(Fault::Status(status)), Err("drill.fault.status".to_owned()), "{status}");
        }
        for (seconds, nanos) in [(0, 0), (-1, 0), (60, 1), (i64::MAX, 0), (1, -5)] {
            let wait = ProtoDuration { seconds, nanos };
            assert_eq!(read(Fault::Delay(wait)), Err("drill.fault.delay".to_owned()), "{wait:?}");
            assert_eq!(read(Fault::Trickle(wait)), Err("drill.fault.trickle".to_owned()), "{wait:?}");
        }
        for nothing in [None, Some(v1::Fault { fault: None })] {
            let failure = drill_fault_from_proto(nothing, "fault").unwrap_err();
            assert_eq!(failure.violations[0].field, "fault");
        }
    }
}
