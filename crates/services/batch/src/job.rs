//! A job as its owner sees it.

use crate::stored::{Details, read};
use signalbox_api::{convert, v1};
use signalbox_batching::{JobState, Lane, WindowState};
use signalbox_ports::batches::{Counts, Job, JobWindow, Spent};
use signalbox_types::Failure;
use v1::{batch_job::State, batch_window::State as WireWindow};

/// A job on the wire, with windows where they were asked for.
pub(crate) fn to_proto(job: &Job, windows: &[JobWindow]) -> Result<v1::BatchJob, Failure> {
    let details: Details = read(&job.details)?;
    let time_allowed = job.complete_by.duration_since(job.create_time).unwrap_or_default();
    Ok(v1::BatchJob {
        job_id: job.job_id.clone(),
        tenant_id: job.tenant_id.clone(),
        scene: details.scene,
        reference: details.reference,
        completion_window: Some(convert::duration_to_proto(time_allowed)),
        state: state_to_proto(job.state).into(),
        counts: Some(counts(&job.counts)),
        windows: windows.iter().map(window).collect(),
        reserved: Some(v1::Cost { nano_eur: job.reserved, ..Default::default() }),
        cost: Some(cost(job.cost)),
        create_time: Some(job.create_time.into()),
        complete_by_time: Some(job.complete_by.into()),
        end_time: job.end_time.map(Into::into),
        expire_time: job.expire_time.map(Into::into),
    })
}

fn counts(counts: &Counts) -> v1::batch_job::Counts {
    let Counts { total, queued, running, succeeded, failed, cancelled, expired } = *counts;
    v1::batch_job::Counts { total, queued, running, succeeded, failed, cancelled, expired }
}

fn cost(spent: Spent) -> v1::Cost {
    v1::Cost { nano_eur: spent.nano_eur, unknown: spent.unknown, ..Default::default() }
}

/// A state on the wire.
fn state_to_proto(state: JobState) -> State {
    match state {
        JobState::Running => State::Running,
        JobState::Cancelling => State::Cancelling,
        JobState::Ended => State::Ended,
    }
}

/// A state from the wire; `None` where it is not said.
pub(crate) fn state_from_proto(state: State) -> Option<JobState> {
    JobState::ALL.into_iter().find(|known| state_to_proto(*known) == state)
}

fn window(of: &JobWindow) -> v1::BatchWindow {
    let JobWindow { window, items } = of;
    let target = &window.key.target;
    v1::BatchWindow {
        window_id: window.window_id.clone(),
        vendor: target.vendor.clone(),
        model: target.model.clone(),
        state: window_state(window.state, target.lane).into(),
        items: *items,
        vendor_batch_id: window.vendor_batch_id.clone(),
        submit_time: Some(window.submit_time.or(window.hand_time).unwrap_or(window.due).into()),
        expire_time: window.expire_time.map(Into::into),
        end_time: window.end_time.map(Into::into),
        error_reason: window.error_reason.clone(),
    }
}

/// Nobody sees more of the handing over than that it has not happened yet. A vendor that is called as usual has a window
/// from its first call on.
fn window_state(state: WindowState, lane: Lane) -> WireWindow {
    match (state, lane) {
        (WindowState::Open, _) | (WindowState::Handing, Lane::Batch) => WireWindow::Open,
        (WindowState::Submitted, _) | (WindowState::Handing, Lane::Usual) => WireWindow::Submitted,
        (WindowState::Ended, _) => WireWindow::Ended,
        (WindowState::Refused, _) => WireWindow::Refused,
    }
}
