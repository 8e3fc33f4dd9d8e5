//! Answers that came and cannot be used are paid for, in one piece as in a stream.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

use futures_util::StreamExt as _;
use signalbox_ports::{VendorApi as _, VendorTarget};
use signalbox_pricing::SoFar;
use signalbox_types::{
    Failure, Message, ModelFacts, Part, Prompt, Role, TokenUsage, UsageSource, VendorKind,
};
use signalbox_vendors::{Bulkhead, HttpVendor, Timeouts, VendorConfig};
use signalbox_vendorsim::{Match, Simulator, Times, Vendor};
use std::time::Duration;

const ALL: [(VendorKind, &str, &str); 5] = [
    (VendorKind::Openai, "openai", "gpt-4o-mini"),
    (VendorKind::Anthropic, "anthropic", "claude-haiku-5-5"),
    (VendorKind::Gemini, "gemini", "gemini-2.5-flash"),
    (VendorKind::Xai, "xai", "grok-4.3"),
    (VendorKind::Ollama, "ollama", "llama3.2"),
];

const PROMPT_TOKENS: u64 = 20;

struct Bench {
    simulator: Simulator,
    vendor: HttpVendor,
    sim: Vendor,
    model: &'static str,
}

impl Bench {
    async fn new((kind, path, model): (VendorKind, &str, &'static str)) -> Self {
        let simulator = Simulator::builder().bind("127.0.0.1:0").await.unwrap();
        let long = Duration::from_secs(30);
        let config = VendorConfig {
            name: path.to_owned(),
            kind,
            base_url: Some(simulator.base_url(path)),
            api_key: Some("sk-hunter2".to_owned()),
            timeouts: Timeouts { connect: long, first_byte: long, idle: long, total: long },
            max_concurrency: 4,
            max_queue: 4,
            simulated: true,
        };
        let bulkhead = Bulkhead::for_vendor(&config);
        Self {
            simulator,
            vendor: HttpVendor::new(config, bulkhead).unwrap(),
            sim: path.parse().unwrap(),
            model,
        }
    }

    fn strike(&self, fault: &str) {
        self.simulator.clear_faults();
        self.simulator.set_fault(Match::vendor(self.sim), fault.parse().unwrap(), Times::Always);
    }

    /// What a call used that failed, as the adapter reckons it.
    async fn whole(&self) -> Result<TokenUsage, TokenUsage> {
        let facts = ModelFacts::default();
        let target = VendorTarget { model: self.model, facts: &facts, timeout: None };
        match self.vendor.generate(target, &prompt()).await {
            Ok(reply) => Ok(reply.value.usage),
            Err(failure) => Err(used(&failure)),
        }
    }

    async fn streamed(&self) -> Result<TokenUsage, TokenUsage> {
        let facts = ModelFacts::default();
        let target = VendorTarget { model: self.model, facts: &facts, timeout: None };
        let mut events = self.vendor.stream(target, &prompt()).await.unwrap().value;
        let mut so_far = SoFar::new(PROMPT_TOKENS);
        while let Some(event) = events.next().await {
            match event {
                Ok(signalbox_types::StreamEvent::Done(done)) => return Ok(done.usage),
                Ok(event) => _ = so_far.event(&event),
                Err(_) => break,
            }
        }
        if let Some(usage) = events.vendor_usage() {
            so_far.reported(usage);
        }
        Err(so_far.used())
    }
}

fn used(failure: &Failure) -> TokenUsage {
    let mut so_far = SoFar::new(PROMPT_TOKENS);
    let arrived = failure.arrived.as_deref().copied().unwrap_or_default();
    arrived.usage.into_iter().for_each(|usage| so_far.reported(usage));
    so_far.arrived(arrived.answer_tokens);
    so_far.used()
}

fn prompt() -> Prompt {
    let parts = vec![Part::text("Why is the sky blue, and why not at sunset?")];
    Prompt {
        messages: vec![Message { role: Role::User, parts }],
        max_output_tokens: Some(300),
        ..Prompt::default()
    }
}

#[tokio::test]
async fn an_answer_that_came_whole_and_cannot_be_used_used_what_its_vendor_says() {
    for of in ALL {
        let bench = Bench::new(of).await;
        let good = bench.whole().await.unwrap();
        let reported = TokenUsage { source: UsageSource::Estimated, vendor_cost_usd_ticks: None, ..good };
        for fault in ["no-finish", "empty-finish", "malformed"] {
            bench.strike(fault);
            match bench.whole().await {
                Ok(usage) => assert!(usage == good && fault != "malformed", "{of:?} {fault}"),
                Err(used) => assert_eq!(used, reported, "{of:?} {fault}"),
            }
        }
        for fault in ["no-finish", "empty-finish"] {
            bench.strike(fault);
            let (Ok(used) | Err(used)) = bench.streamed().await;
            assert_eq!(used.prompt_tokens(), good.prompt_tokens(), "{of:?} {fault}");
            assert!(used.answer_tokens() >= good.answer_tokens(), "{of:?} {fault}: as much in a stream");
        }
    }
}

#[tokio::test]
async fn of_an_answer_that_broke_off_or_has_no_report_what_came_is_estimated() {
    for of in ALL {
        let bench = Bench::new(of).await;
        let good = bench.whole().await.unwrap();
        bench.strike("cut=4");
        let (whole, streamed) = (bench.whole().await.unwrap_err(), bench.streamed().await.unwrap_err());
        assert!(streamed.answer_tokens() >= 4, "{of:?}: {streamed:?}");
        assert!(whole.answer_tokens() > good.answer_tokens() / 4, "{of:?}: half of the body came, {whole:?}");
        bench.strike("no-usage,no-finish");
        let Err(whole) = bench.whole().await else { continue };
        assert_eq!((whole.input, whole.source), (PROMPT_TOKENS, UsageSource::Estimated), "{of:?}");
        assert!(whole.answer_tokens() >= good.answer_tokens(), "{of:?}: {whole:?}");
        assert!(bench.streamed().await.unwrap_err().answer_tokens() >= good.answer_tokens(), "{of:?}");
    }
}
