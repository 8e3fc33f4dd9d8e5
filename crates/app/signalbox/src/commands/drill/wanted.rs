//! Which drill to start.

use signalbox_api::{convert::duration_to_proto, v1};
use signalbox_kit::config::HumanDuration;
use v1::fault::Fault;

/// The calls to hit, the fault, and the limits.
#[derive(Debug, clap::Args)]
pub(super) struct WantedArgs {
    /// Hit calls to this vendor entry
    #[arg(long)]
    vendor: String,
    /// Only calls to this model of it
    #[arg(long)]
    model: Option<String>,
    /// Only calls of this tenant
    #[arg(long)]
    tenant: Option<String>,
    #[command(flatten)]
    fault: FaultArgs,
    /// Share of the calls to hit, above 0 to 1
    #[arg(long, default_value_t = 0.1)]
    share: f64,
    /// How long it lasts, as in `90s`; at most one hour
    #[arg(long, default_value = "60s")]
    duration: HumanDuration,
    /// End it after this many calls were hit
    #[arg(long)]
    max_calls: Option<u64>,
}

/// What happens to the calls.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct FaultArgs {
    /// The vendor seems to answer with this HTTP status, 400 to 599
    #[arg(long)]
    status: Option<u32>,
    /// The vendor is slower by this much, as in `10s`
    #[arg(long)]
    delay: Option<HumanDuration>,
    /// Streams break off after this many events with content
    #[arg(long, value_name = "EVENTS")]
    cut_after: Option<u32>,
    /// Streams come with this pause before each event, as in `500ms`
    #[arg(long, value_name = "PAUSE")]
    trickle: Option<HumanDuration>,
}

impl WantedArgs {
    pub(super) fn drill(self) -> v1::Drill {
        v1::Drill {
            target: Some(v1::Target { vendor: self.vendor, model: self.model.unwrap_or_default() }),
            tenant_id: self.tenant.unwrap_or_default(),
            fault: Some(v1::Fault { fault: self.fault.fault() }),
            share: self.share,
            duration: Some(duration_to_proto(self.duration.0)),
            max_calls: self.max_calls.unwrap_or_default(),
            ..Default::default()
        }
    }
}

impl FaultArgs {
    fn fault(self) -> Option<Fault> {
        let status = self.status.map(Fault::Status);
        status
            .or_else(|| self.delay.map(|delay| Fault::Delay(duration_to_proto(delay.0))))
            .or_else(|| self.cut_after.map(Fault::CutAfterTokens))
            .or_else(|| self.trickle.map(|pause| Fault::Trickle(duration_to_proto(pause.0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        wanted: WantedArgs,
    }

    fn drill(words: &[&str]) -> Result<v1::Drill, clap::Error> {
        let words = ["drill", "--vendor", "openai"].iter().chain(words);
        Cli::try_parse_from(words).map(|cli| cli.wanted.drill())
    }

    #[test]
    fn options_end_up_in_the_request() {
        let given = drill(&["--model", "m", "--tenant", "t", "--delay", "10s", "--share", "0.5"]).unwrap();
        assert_eq!(given.target.unwrap(), v1::Target { vendor: "openai".into(), model: "m".into() });
        assert_eq!((given.tenant_id.as_str(), given.share), ("t", 0.5));
        let ten = prost_types::Duration { seconds: 10, nanos: 0 };
        assert_eq!(given.fault.unwrap().fault, Some(Fault::Delay(ten)));
        assert_eq!(given.duration.unwrap().seconds, 60);
    }

    #[test]
    fn exactly_one_fault_is_given() {
        assert!(drill(&[]).is_err());
        assert!(drill(&["--status", "500", "--trickle", "1s"]).is_err());
        assert!(drill(&["--cut-after", "0"]).is_ok());
    }
}
