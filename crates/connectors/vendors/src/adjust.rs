//! Fits a prompt to what a model takes, and keeps book of every change.

use signalbox_types::{
    Adjustment, ModelFacts, Parameter, ParameterRules, Prompt, ReasoningEffort, ReasoningStyle,
};
use std::borrow::Cow;

/// Why something is dropped that the vendor does not know.
pub(crate) const NO_SUCH_PARAMETER: &str = "dropped: this vendor has no such parameter";

/// What had to be changed so far.
#[derive(Debug, Default)]
pub(crate) struct Adjustments(Vec<Adjustment>);

impl Adjustments {
    /// Notes a change.
    pub(crate) fn note(&mut self, field: &'static str, description: impl Into<Cow<'static, str>>) {
        let adjustment = Adjustment { field: Cow::Borrowed(field), description: description.into() };
        if !self.0.contains(&adjustment) {
            self.0.push(adjustment);
        }
    }

    /// The value, unless the model refuses the parameter.
    pub(crate) fn accepted<T>(
        &mut self,
        rules: &ParameterRules,
        parameter: Parameter,
        value: Option<T>,
    ) -> Option<T> {
        if value.is_some() && rules.refused.contains(&parameter) {
            self.note(parameter.field(), "dropped: refused by this model");
            return None;
        }
        value
    }

    /// Notes that a parameter is dropped, where one was set.
    pub(crate) fn dropped<T>(&mut self, field: &'static str, value: Option<T>, why: &'static str) {
        if value.is_some() {
            self.note(field, why);
        }
    }

    /// Notes what only some vendors know: strict tools, one tool call at a time, metadata, the end user, and how closely to
    /// look at images.
    pub(crate) fn dropped_extras(&mut self, prompt: &Prompt) {
        let strict = prompt.tools.iter().find_map(|tool| tool.strict.filter(|strict| *strict));
        self.dropped(Parameter::Strict.field(), strict, NO_SUCH_PARAMETER);
        let one_at_a_time = prompt.parallel_tool_calls.filter(|parallel| !parallel);
        self.dropped(Parameter::ParallelToolCalls.field(), one_at_a_time, NO_SUCH_PARAMETER);
        self.dropped(Parameter::Metadata.field(), prompt.metadata.first_key_value(), NO_SUCH_PARAMETER);
        let end_user = (!prompt.end_user.is_empty()).then_some(());
        self.dropped(Parameter::EndUser.field(), end_user, NO_SUCH_PARAMETER);
        let detail = wants_image_detail(prompt).then_some(());
        self.dropped(Parameter::ImageDetail.field(), detail, NO_SUCH_PARAMETER);
    }

    /// The caller's output limit, at most what the model can do.
    pub(crate) fn max_tokens(&mut self, facts: &ModelFacts, wish: Option<u32>) -> Option<u32> {
        let wish = wish?;
        if facts.max_output_tokens == 0 || wish <= facts.max_output_tokens {
            return Some(wish);
        }
        self.note("max_output_tokens", format!("lowered to the model's {}", facts.max_output_tokens));
        Some(facts.max_output_tokens)
    }

    /// What the model is to be told about thinking.
    pub(crate) fn thinking(&mut self, rules: &ParameterRules, wish: Option<ReasoningEffort>) -> Thinking {
        let Some(wish) = wish else {
            return Thinking::Default;
        };
        let unsupported = rules.reasoning == ReasoningStyle::Unsupported
            || rules.refused.contains(&Parameter::ReasoningEffort);
        match wish {
            ReasoningEffort::None if unsupported && !rules.always_reasons => Thinking::Default,
            _ if unsupported => {
                self.note(Parameter::ReasoningEffort.field(), "dropped: refused by this model");
                Thinking::Default
            }
            ReasoningEffort::None if !rules.always_reasons => Thinking::Off,
            wish => Thinking::Effort(self.nearest_effort(rules, wish)),
        }
    }

    fn nearest_effort(&mut self, rules: &ParameterRules, wish: ReasoningEffort) -> ReasoningEffort {
        let known =
            || rules.reasoning_efforts.iter().copied().filter(|effort| *effort > ReasoningEffort::None);
        let below = known().filter(|effort| *effort <= wish).max();
        let unlisted = || wish.max(ReasoningEffort::Minimal);
        let nearest = below.or_else(|| known().min()).unwrap_or_else(unlisted);
        if nearest != wish {
            let name = nearest.name();
            self.note(
                Parameter::ReasoningEffort.field(),
                format!("changed to {name}: the nearest this model takes"),
            );
        }
        nearest
    }

    /// What was changed, in the order in which it was noted.
    pub(crate) fn into_vec(self) -> Vec<Adjustment> {
        self.0
    }
}

/// What a model is to be told about thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Nothing: it does what it does by itself.
    Default,
    /// Not to.
    Off,
    /// To, this much.
    Effort(ReasoningEffort),
}

impl Thinking {
    /// Whether the model will think.
    pub(crate) fn is_on(self, rules: &ParameterRules) -> bool {
        match self {
            Self::Default => {
                rules.always_reasons
                    || rules.default_effort.is_some_and(|effort| effort > ReasoningEffort::None)
            }
            Self::Off => false,
            Self::Effort(_) => true,
        }
    }
}

/// The system text with an instruction for this translation after it.
pub(crate) fn with_instruction<'a>(
    system: &'a str,
    instruction: Option<Cow<'a, str>>,
) -> Option<Cow<'a, str>> {
    match (system, instruction) {
        ("", instruction) => instruction,
        (system, None) => Some(Cow::Borrowed(system)),
        (system, Some(instruction)) => Some(Cow::Owned(format!("{system}\n\n{instruction}"))),
    }
}

/// Whether some image asks for a detail that a vendor without such a switch cannot give.
pub(crate) fn wants_image_detail(prompt: &Prompt) -> bool {
    prompt.images().any(|image| image.detail != signalbox_types::ImageDetail::Auto)
}
