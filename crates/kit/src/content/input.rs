//! What is asked.

use super::Content;
use crate::catalog::Catalog;
use signalbox_quality::content::{Inspection, Place};
use signalbox_types::{Failure, Part, Prompt};

impl Content {
    /// Looks at a prompt, redacts what must be, and fails where it must not be asked.
    pub(super) async fn admit_prompt(&mut self, prompt: &mut Prompt) -> Result<(), Failure> {
        if self.policy.rules.looks_at(Place::Input) {
            let mut inspection = self.policy.rules.inspect(Place::Input);
            redact_prompt(prompt, &mut inspection);
            self.conclude(&inspection, Place::Input)?;
        }
        self.judge_texts(Place::Input, || texts(prompt)).await
    }

    /// The same for the texts of an embedding request.
    pub async fn admit_texts(&mut self, texts: &mut [String]) -> Result<(), Failure> {
        if self.policy.rules.looks_at(Place::Input) {
            let mut inspection = self.policy.rules.inspect(Place::Input);
            texts.iter_mut().for_each(|text| redact(text, &mut inspection));
            self.conclude(&inspection, Place::Input)?;
        }
        self.judge_texts(Place::Input, || texts.to_vec()).await
    }
}

/// What deserves to be known of a request that is not made: the tenant's rules would refuse it.
pub fn note(catalog: &Catalog, tenant_id: &str, prompt: &Prompt) -> Option<String> {
    let policy = catalog.content_policy(tenant_id)?;
    let mut inspection = policy.rules.inspect(Place::Input);
    redact_prompt(&mut prompt.clone(), &mut inspection);
    let rule = inspection.blocked_by()?;
    Some(format!("the content policy `{}` would refuse this: rule `{rule}`", policy.name))
}

fn redact_prompt(prompt: &mut Prompt, inspection: &mut Inspection) {
    redact(&mut prompt.system, inspection);
    for part in prompt.messages.iter_mut().flat_map(|message| &mut message.parts) {
        match part {
            Part::Text { text, .. } => redact(text, inspection),
            Part::ToolCall(call) => redact_json(&mut call.arguments, inspection),
            Part::ToolResult(result) => redact_json(&mut result.content, inspection),
            Part::Reasoning(reasoning) => {
                if let Some(redacted) = inspection.text(&reasoning.text) {
                    reasoning.text = redacted;
                    // It vouches for the text as it was.
                    reasoning.signature = None;
                }
            }
            Part::Image(_) => {}
        }
    }
}

fn redact(text: &mut String, inspection: &mut Inspection) {
    if let Some(redacted) = inspection.text(text) {
        *text = redacted;
    }
}

fn redact_json(text: &mut String, inspection: &mut Inspection) {
    if let Some(redacted) = inspection.json(text) {
        *text = redacted;
    }
}

/// What a moderation endpoint is shown.
fn texts(prompt: &Prompt) -> Vec<String> {
    let parts = prompt.messages.iter().flat_map(|message| &message.parts);
    let of_parts = parts.filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        Part::ToolCall(call) => Some(&call.arguments),
        Part::ToolResult(result) => Some(&result.content),
        Part::Reasoning(reasoning) => Some(&reasoning.text),
        Part::Image(_) => None,
    });
    std::iter::once(&prompt.system).chain(of_parts).cloned().collect()
}
