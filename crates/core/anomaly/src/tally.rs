//! What is counted in a minute.

/// Calls of one model, or of all models of a vendor, in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Calls.
    pub calls: u64,
    /// Of these, failed by the vendor's fault.
    pub failed: u64,
    /// Requests that were first sent here.
    pub first_choices: u64,
    /// Of these, served by another candidate.
    pub fell_back: u64,
    /// Structured answers.
    pub structured: u64,
    /// Of these, not valid.
    pub invalid: u64,
    /// Cost of the calls whose cost is known, nano-EUR.
    pub cost_nano_eur: i64,
    /// Calls whose cost is known.
    pub priced: u64,
    /// Answer tokens of the calls that answered, where known.
    pub output_tokens: u64,
    /// Calls that answered and whose tokens are known.
    pub answered: u64,
}

impl Tally {
    /// Adds the calls of another model of the vendor.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failed = self.failed.saturating_add(other.failed);
        self.first_choices = self.first_choices.saturating_add(other.first_choices);
        self.fell_back = self.fell_back.saturating_add(other.fell_back);
        self.structured = self.structured.saturating_add(other.structured);
        self.invalid = self.invalid.saturating_add(other.invalid);
        self.cost_nano_eur = self.cost_nano_eur.saturating_add(other.cost_nano_eur);
        self.priced = self.priced.saturating_add(other.priced);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.answered = self.answered.saturating_add(other.answered);
    }
}
