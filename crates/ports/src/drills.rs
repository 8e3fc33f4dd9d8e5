//! Drills, as operators start and stop them.

use signalbox_api::v1;
use signalbox_types::Failure;

/// The drills of this process: faults injected on purpose into the calls that its router makes.
pub trait Drills: Send + Sync + std::fmt::Debug {
    /// Starts a drill and gives it its name. Call it inside a runtime, whose timer ends the drill.
    fn start(&self, wanted: v1::Drill) -> Result<v1::Drill, Failure>;

    /// Ends a drill early; one that has ended stays as it is.
    fn stop(&self, name: &str) -> Result<v1::Drill, Failure>;

    /// Drills that run or ran, newest first.
    fn list(&self) -> Vec<v1::Drill>;
}
