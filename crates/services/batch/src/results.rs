//! A job's results on their way to its owner.

use crate::{
    Dependencies,
    failure::{no_such_job, of_store},
    followers::Follower,
    pages::Question,
    stored::read,
    submit::which,
};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use signalbox_api::{status::to_status, v1};
use signalbox_ports::{
    Identity,
    batches::{Counts, Results, StoredResult},
};
use signalbox_types::{ErrorReason, Failure};
use std::{collections::VecDeque, time::Duration};
use tonic::Status;

/// Results that are read at once.
const PAGE: usize = 50;
/// How long who follows waits for what other processes store, of which nothing is heard here.
const QUIET: Duration = Duration::from_secs(1);

type Streamed = BoxStream<'static, Result<v1::StreamBatchResultsResponse, Status>>;

/// Answers `StreamBatchResults`.
pub(crate) async fn stream(
    dependencies: &Dependencies,
    caller: &Identity,
    asked: v1::StreamBatchResultsRequest,
) -> Result<Streamed, Failure> {
    let tenant_id = which(caller, &asked.tenant_id, &asked.job_id)?;
    // Before the first look, so that nothing that comes after it goes unheard.
    let follower = dependencies.followers.join();
    let found = dependencies.store.job(&tenant_id, &asked.job_id).await.map_err(|error| of_store(&error))?;
    let (job, _) = found.ok_or_else(|| no_such_job(&asked.job_id))?;
    let question = Question::results(job.number);
    let after = match &*asked.resume_token {
        "" => 0,
        token => question.read(token).filter(|after| *after <= results(&job.counts)).ok_or_else(|| {
            Failure::invalid("resume_token", "is not one that came with a result of this job")
        })?,
    };
    let reading = Reading {
        dependencies: dependencies.clone(),
        tenant_id,
        job_id: asked.job_id,
        follow: asked.follow,
        question,
        after,
        page: VecDeque::new(),
        over: false,
        follower,
    };
    let told = stream::try_unfold(reading, |mut reading| async move {
        let next = reading.next().await.map_err(|failure| to_status(&failure))?;
        Ok(next.map(|next| (next, reading)))
    });
    Ok(told.boxed())
}

/// How many there are by now: they are numbered from 1.
fn results(of: &Counts) -> u64 {
    of.succeeded + of.failed + of.cancelled + of.expired
}

/// Somebody who reads results.
struct Reading {
    dependencies: Dependencies,
    tenant_id: String,
    job_id: String,
    follow: bool,
    question: Question,
    /// Number of the last result that was given out.
    after: u64,
    page: VecDeque<StoredResult>,
    /// What is in the page is all.
    over: bool,
    follower: Follower,
}

impl Reading {
    async fn next(&mut self) -> Result<Option<v1::StreamBatchResultsResponse>, Failure> {
        loop {
            if let Some(next) = self.page.pop_front() {
                return self.told(next).map(Some);
            }
            if self.over {
                return Ok(None);
            }
            self.turn_page().await?;
            if self.page.is_empty() && !self.over && !self.follower.wait(QUIET).await {
                let message = "this process is draining; follow again with the last resume_token";
                return Err(Failure::new(ErrorReason::Unavailable, message));
            }
        }
    }

    async fn turn_page(&mut self) -> Result<(), Failure> {
        let store = &self.dependencies.store;
        let read = store.results(&self.tenant_id, &self.job_id, self.after, PAGE).await;
        let read = read.map_err(|error| of_store(&error))?;
        let Results { results, ended } = read.ok_or_else(|| no_such_job(&self.job_id))?;
        self.over = results.len() < PAGE && (ended || !self.follow);
        self.page = results.into();
        Ok(())
    }

    fn told(&mut self, stored: StoredResult) -> Result<v1::StreamBatchResultsResponse, Failure> {
        self.after = stored.sequence;
        let mut result: v1::BatchResult = read(&stored.result)?;
        result.end_time = Some(stored.end_time.into());
        let resume_token = self.question.token(stored.sequence);
        Ok(v1::StreamBatchResultsResponse { result: Some(result), resume_token })
    }
}
