//! Which answers, from options.

use signalbox_api::v1::{InvalidateRequest, invalidate_request::Scope};

const HELP: &str = "\
Takes effect within a second on every replica; with --wait the command returns once it has. With --erase what is stored is
destroyed as well, vectors and keys included.";

/// Which answers. Name exactly one.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct InvalidateArgs {
    /// Whose
    #[arg(long, value_name = "ID")]
    tenant: String,
    #[command(flatten)]
    which: Which,
    /// Return once no replica gives them any more
    #[arg(long)]
    wait: bool,
    /// Destroy what is stored, too; of everything, a reference or an entry
    #[arg(long)]
    erase: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// All of the tenant's
    #[arg(long)]
    everything: bool,
    /// Those of a kind of work
    #[arg(long, value_name = "NAME")]
    task_type: Option<String>,
    /// Those in a language, as in `it-IT`
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// Those asked of `alias:NAME`, `tier:NAME`, `model:VENDOR/MODEL` or `task:NAME`
    #[arg(long, value_name = "WHAT")]
    requested: Option<String>,
    /// Those made from a prompt template, as in `headline` or `headline@3`
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// Those for an article or job
    #[arg(long)]
    reference: Option<String>,
    /// A single one, as `route.cache.entry_id` names it
    #[arg(long, value_name = "ID")]
    entry: Option<String>,
}

impl InvalidateArgs {
    pub(super) fn request(self) -> InvalidateRequest {
        let Self { tenant, which, wait, erase } = self;
        InvalidateRequest { tenant_id: tenant, scope: which.scope(), wait, erase }
    }
}

impl Which {
    fn scope(self) -> Option<Scope> {
        let Self { everything, task_type, locale, requested, template, reference, entry } = self;
        let named = [
            everything.then_some(Scope::Everything(true)),
            task_type.map(Scope::TaskType),
            locale.map(Scope::Locale),
            requested.map(Scope::Requested),
            template.map(Scope::PromptTemplate),
            reference.map(Scope::Reference),
            entry.map(Scope::EntryId),
        ];
        named.into_iter().flatten().next()
    }
}
