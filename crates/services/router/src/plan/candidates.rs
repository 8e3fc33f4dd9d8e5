//! How things stand with each model that could serve a request.

use super::Considered;
use signalbox_kit::catalog::{CatalogModel, Targets};
use signalbox_routing::{Candidate, Offer, Standing};
use signalbox_types::{ModelRef, Money, TokenUsage, VendorKind};

impl<'a> Considered<'a> {
    /// Preferred ones, then secondary ones, with the last resorts where they are listed.
    pub(super) fn candidates(&self, targets: Targets<'a>) -> Vec<Candidate<'a>> {
        let [preferred, secondary] = self.last_resorts(targets);
        let standing = |index: usize, first_last_resort: usize, otherwise: Standing| {
            if index >= first_last_resort { Standing::LastResort } else { otherwise }
        };
        let mut candidates = Vec::with_capacity(targets.preferred.len() + targets.secondary.len());
        for (index, model) in targets.preferred.iter().enumerate() {
            candidates.push(self.candidate(model, standing(index, preferred, Standing::Preferred)));
        }
        for (index, model) in targets.secondary.iter().enumerate() {
            candidates.push(self.candidate(model, standing(index, secondary, Standing::Secondary)));
        }
        candidates
    }

    /// Where the last resorts of each list begin: with the self-hosted models at its end. One that is listed before
    /// a vendor's is there by choice, and so are all where no vendor's is listed.
    fn last_resorts(&self, targets: Targets<'_>) -> [usize; 2] {
        let vendors_last = |list: &[ModelRef]| list.iter().rposition(|model| !self.is_self_hosted(model));
        let preferred = vendors_last(targets.preferred).map_or(usize::MAX, |last| last + 1);
        let others = if preferred == usize::MAX { usize::MAX } else { 0 };
        [preferred, vendors_last(targets.secondary).map_or(others, |last| last + 1)]
    }

    fn is_self_hosted(&self, model: &ModelRef) -> bool {
        let kind = self.catalog.vendor(&model.vendor).map(|vendor| vendor.kind);
        matches!(kind, Some(VendorKind::Ollama | VendorKind::OpenaiCompatible))
    }

    fn candidate(&self, model: &'a ModelRef, standing: Standing) -> Candidate<'a> {
        let known = self.catalog.model(model);
        let listed_as = known.map_or(model, |known| &known.reference);
        let mut candidate = Candidate::new(self.offer(model, known, standing));
        if let Some(known) = known {
            candidate.tier = known.tier;
            candidate.labels = &known.labels;
            candidate.latency.prior = known.pace;
            candidate.quality.prior = known.quality.of(&self.admitted.request.task_type);
        }
        if self.is_scored() {
            candidate.cost = self.expected_cost(model);
            candidate.priority = known.map_or(0.0, |known| known.priority);
            candidate.preference = self.tenant.preference(model);
        }
        if self.admitted.budget.needs_prices() {
            candidate.ceiling = self.bound(model).ceiling;
        }
        candidate.breaker = self.dependencies.health.breaker(listed_as);
        self.dependencies.health.describe(listed_as, &self.admitted.request.task_type, &mut candidate);
        self.dependencies.holds.describe(model, &mut candidate);
        candidate
    }

    fn offer(&self, model: &'a ModelRef, known: Option<&'a CatalogModel>, standing: Standing) -> Offer<'a> {
        Offer {
            model,
            facts: known.map(|known| &known.facts),
            configured: self.dependencies.vendors.has(&model.vendor),
            served: known.is_some_and(|known| known.lifecycle.served_on(self.day)),
            held_for: None,
            standing,
        }
    }

    fn expected_cost(&self, model: &ModelRef) -> Option<Money> {
        let usage = TokenUsage {
            input: self.needs.prompt_tokens,
            output: u64::from(self.expected_tokens()),
            ..Default::default()
        };
        self.catalog.prices().cost(model, &usage, self.admitted.request.lane, self.day)
    }
}
