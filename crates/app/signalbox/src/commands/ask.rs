//! The request of commands that ask, from their options.

use super::{CommandError, read_text};
use signalbox_api::v1;

/// What to ask, and whom.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct AskArgs {
    /// What to ask; `-` reads it from standard input
    prompt: String,
    /// An alias as in `fast`, a tier as in `tier:economy`, or a model as in `openai/gpt-6-luna`
    #[arg(long, short)]
    model: Option<String>,
    /// Kind of work, as in `headline`; its models and defaults then apply
    #[arg(long, value_name = "NAME")]
    task_type: Option<String>,
    /// The template that the prompt was made of, as in `headline@3`
    #[arg(long, value_name = "NAME")]
    prompt_template: Option<String>,
    /// Standing instructions
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Whose budget, cache and rules apply
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Most tokens to answer with
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_output_tokens: Option<i32>,
    /// How varied the answer may be; where neither model nor task type is named it also finds the kind of work
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// Your id of the request; the same id draws the same candidate while things stand as they do
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
}

impl AskArgs {
    /// The request, with the prompt read where it comes from standard input.
    pub(super) fn request(self) -> Result<v1::GenerateRequest, CommandError> {
        let prompt = if self.prompt == "-" { read_text("-")? } else { self.prompt };
        let part = v1::Part { part: Some(v1::part::Part::Text(prompt)), ..v1::Part::default() };
        Ok(v1::GenerateRequest {
            messages: vec![v1::Message { role: v1::Role::User as i32, content: vec![part] }],
            system: self.system.unwrap_or_default(),
            model: self.model.unwrap_or_default(),
            task_type: self.task_type.unwrap_or_default(),
            tenant_id: self.tenant.unwrap_or_default(),
            prompt_template: self.prompt_template.unwrap_or_default(),
            max_output_tokens: self.max_output_tokens,
            sampling: self.temperature.map(|temperature| v1::Sampling {
                temperature: Some(temperature),
                ..v1::Sampling::default()
            }),
            request_id: self.request_id.unwrap_or_default(),
            ..v1::GenerateRequest::default()
        })
    }
}
