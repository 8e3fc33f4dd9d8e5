//! What a batch's answer used where its vendor does not say: estimated from prompt and answer, as of any other call.

use super::{Workplace, tried::Try};
use crate::stored::Known;
use signalbox_api::{
    convert::{cost_to_proto, generate_request_from_proto, usage_to_proto},
    v1::{self, prepare_batch_item_response::Request, token_usage::Source},
};
use signalbox_pricing::{Day, SoFar, estimate_input_tokens, estimate_prompt_tokens};
use signalbox_types::{Lane, ModelRef};

impl Workplace {
    /// Adds the prompt, and so the cost, where an adapter could count the answer alone.
    pub(super) fn add_prompt(
        &self,
        known: &Known,
        of: Try<'_>,
        usage: &mut Option<v1::TokenUsage>,
        cost: &mut Option<v1::Cost>,
    ) {
        let counted = usage.unwrap_or_default();
        if counted.source() != Source::Estimated || counted.input_tokens > 0 {
            return;
        }
        let Some(prompt_tokens) = prompt_tokens(known, of) else { return };
        let used = SoFar::new(prompt_tokens).estimate(counted.output_tokens);
        let model = ModelRef::new(&*of.target.vendor, &*of.target.model);
        let catalog = self.dependencies.config.catalog();
        let day = Day::of(self.dependencies.clock.now());
        let price = catalog.prices().cost(&model, &used, Lane::Batch, day);
        *usage = Some(usage_to_proto(&used));
        *cost = Some(cost_to_proto(price, catalog.prices().price_version()));
    }
}

fn prompt_tokens(known: &Known, of: Try<'_>) -> Option<u64> {
    Some(match known.request_for(of.target)? {
        Request::Generate(asked) => estimate_prompt_tokens(&generate_request_from_proto(asked).ok()?.prompt),
        Request::Embed(asked) => estimate_input_tokens(&asked.inputs),
    })
}
