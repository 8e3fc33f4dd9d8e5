//! Two requests, from options.

use crate::commands::{CommandError, ask::AskArgs};
use signalbox_api::v1;

const HELP: &str = "\
Nothing is looked up and nothing is stored. Both texts are taken for instructions; --content is what both are applied to.";

/// The texts that are compared, and what else is the same of both.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct ExplainArgs {
    /// Whose answer would be there already
    #[arg(long, value_name = "TEXT")]
    stored: String,
    #[command(flatten)]
    ask: AskArgs,
    /// What the instructions are applied to, as an article
    #[arg(long, value_name = "TEXT")]
    content: Option<String>,
    /// Language of the texts, as in `it-IT`
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
}

impl ExplainArgs {
    pub(super) fn request(self) -> Result<v1::ExplainCacheRequest, CommandError> {
        let mut asked =
            v1::GenerateRequest { locale: self.locale.unwrap_or_default(), ..self.ask.request()? };
        for part in asked.messages.iter_mut().flat_map(|message| &mut message.content) {
            part.set_purpose(v1::Purpose::Instruction);
        }
        if let Some(content) = self.content {
            let mut part = v1::Part { part: Some(v1::part::Part::Text(content)), ..v1::Part::default() };
            part.set_purpose(v1::Purpose::Content);
            asked.messages.iter_mut().for_each(|message| message.content.push(part.clone()));
        }
        let mut stored = asked.clone();
        if let Some(part) = stored.messages.first_mut().and_then(|message| message.content.first_mut()) {
            part.part = Some(v1::part::Part::Text(self.stored));
        }
        Ok(v1::ExplainCacheRequest { stored: Some(stored), asked: Some(asked) })
    }
}
