//! Whether a near answer was right, now that the real one is there.

use crate::{
    cache::Cache, evidence::Observation, kept::text, metrics, models::GRACE, question::Question, stats::Seen,
    token::NearHit,
};
use signalbox_api::v1::CachedAnswer;
use signalbox_caching::judge::Verdict;
use signalbox_ports::cache::{CacheAway, Verdict as Verified, Verification};
use tokio::time::timeout;

impl Cache {
    /// Compares a near answer with the real one, and takes the outcome into the evidence.
    pub(super) async fn compare(
        &self,
        question: &Question,
        answer: &CachedAnswer,
        near: &NearHit,
    ) -> Result<(), CacheAway> {
        let (tenant, store) = (&question.tenant, &self.dependencies.store);
        let Some(entry) = store.get(tenant.digest(), &[near.key()]).await? else { return Ok(()) };
        if entry.key != near.key() {
            return Ok(());
        }
        let Some(found) = self.opened(question, entry).await? else { return Ok(()) };
        let (cached, fresh) = (text(&found.answer), text(answer));
        let verdict = match question.policy.judge.verdict(&cached, &fresh) {
            Verdict::Unsure => self.verified(question, &found.instruction, &cached).await,
            sure => sure,
        };
        metrics::judged(verdict);
        let is_right = verdict == Verdict::Right;
        self.seen(tenant, &question.task_type, &Seen::Judged { is_right });
        let seen = Observation { entry: near.key(), similarity: near.similarity, is_right, report: None };
        self.observe(tenant, &question.task_type, seen).await?;
        Ok(())
    }

    /// What the verifier says where comparing answers does not tell. Without one, and where it fails, nobody knows.
    async fn verified(&self, question: &Question, stored: &str, answer: &str) -> Verdict {
        let Some(verifier) = &self.dependencies.verifier else { return Verdict::Unsure };
        let asked =
            Verification { tenant_id: &question.tenant.id, stored, asked: &question.instruction, answer };
        let patience = self.dependencies.options.verify_timeout + GRACE;
        let Ok(verified) = timeout(patience, verifier.verify(&asked)).await else { return Verdict::Unsure };
        question.tenant.owe(verified.attempt);
        match verified.verdict {
            Verified::Same => Verdict::Right,
            Verified::Different => Verdict::Wrong,
            Verified::Unsure => Verdict::Unsure,
        }
    }
}
