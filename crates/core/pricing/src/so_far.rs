//! What a call has used before its end.

use crate::estimate::{SIXTEENTHS, weigh};
use signalbox_types::{StreamEvent, TokenUsage, UsageSource};

/// What is known of a call under way, and so what an account says of it should it be given up now. Whoever follows a
/// call reckons by this, so that two who see the same of it say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SoFar {
    prompt_tokens: u64,
    /// Of the answer until now, in sixteenths of a token.
    sixteenths: u64,
    reported: Option<TokenUsage>,
}

impl SoFar {
    /// A call that begins, with a prompt of about so many tokens.
    pub fn new(prompt_tokens: u64) -> Self {
        Self { prompt_tokens, ..Self::default() }
    }

    /// More of the answer has arrived: about so many tokens.
    pub fn arrived(&mut self, tokens: u64) {
        self.sixteenths = self.sixteenths.saturating_add(tokens.saturating_mul(SIXTEENTHS));
    }

    /// A piece of the answer's text has arrived. All pieces are rounded up together, however small each is. By how many
    /// tokens the answer grew.
    pub fn text(&mut self, text: &str) -> u64 {
        let before = self.answer_tokens();
        self.sixteenths = self.sixteenths.saturating_add(weigh(text));
        self.answer_tokens() - before
    }

    /// The same of an event of a stream.
    pub fn event(&mut self, event: &StreamEvent) -> u64 {
        match event {
            StreamEvent::Text(text) => self.text(text),
            StreamEvent::ToolCall(delta) => self.text(&delta.arguments),
            StreamEvent::Reasoning(delta) => self.text(&delta.text),
            StreamEvent::Done(_) => 0,
        }
    }

    /// The vendor has reported usage. Reports replace each other: vendors repeat them growing.
    pub fn reported(&mut self, usage: TokenUsage) {
        self.reported = Some(usage);
    }

    /// Whether the vendor has reported anything.
    pub fn is_reported(&self) -> bool {
        self.reported.is_some()
    }

    /// Tokens of the answer until now, by estimate.
    pub fn answer_tokens(&self) -> u64 {
        self.sixteenths.div_ceil(SIXTEENTHS)
    }

    /// Usage by estimate alone, with an answer of so many tokens.
    pub fn estimate(&self, answer_tokens: u64) -> TokenUsage {
        TokenUsage {
            input: self.prompt_tokens,
            output: answer_tokens,
            source: UsageSource::Estimated,
            ..TokenUsage::default()
        }
    }

    /// What was used until now: the vendor's own figures where they came, but never an answer shorter than what has
    /// arrived. The price list prices it: what the vendor says of its cost is of another moment.
    pub fn used(&self) -> TokenUsage {
        let estimate = self.estimate(self.answer_tokens());
        let Some(reported) = self.reported else { return estimate };
        let short = reported.answer_tokens() < estimate.output;
        TokenUsage {
            output: if short { estimate.output } else { reported.output },
            source: UsageSource::Estimated,
            vendor_cost_usd_ticks: None,
            ..reported
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_word_of_the_vendor_the_prompt_and_what_has_arrived_are_used() {
        let mut call = SoFar::new(100);
        call.arrived(7);
        call.arrived(3);
        let used = call.used();
        assert_eq!((used.input, used.output, used.source), (100, 10, UsageSource::Estimated));
    }

    #[test]
    fn an_answer_in_pieces_is_as_long_as_in_one() {
        let text = "The longest tram line of Rome, 12 km, was opened on Sunday.";
        let mut call = SoFar::new(100);
        let grown: u64 = text.split_inclusive(' ').map(|piece| call.text(piece)).sum();
        let whole = crate::estimate_tokens(text);
        assert_eq!((call.answer_tokens(), grown), (whole, whole));
    }

    #[test]
    fn the_vendors_figures_count_but_never_less_answer_than_has_arrived() {
        let mut call = SoFar::new(100);
        let reported = TokenUsage { input: 80, cache_read: 9, output: 1, ..TokenUsage::default() };
        call.reported(TokenUsage { source: UsageSource::Vendor, ..reported });
        call.arrived(10);
        let expected = TokenUsage { output: 10, source: UsageSource::Estimated, ..reported };
        assert_eq!(call.used(), expected);
        call.reported(TokenUsage { output: 12, vendor_cost_usd_ticks: Some(1), ..reported });
        assert_eq!(call.used(), TokenUsage { output: 12, ..expected });
    }
}
