//! One call, made ready: whom to call, with what.

use crate::{
    fault::{FaultyVendor, Injected},
    service::Dependencies,
};
use signalbox_api::{convert, v1};
use signalbox_kit::catalog::Catalog;
use signalbox_ports::{VendorApi, VendorTarget};
use signalbox_pricing::{Day, estimate_input_tokens, estimate_prompt_tokens};
use signalbox_types::{
    Adjustment, Capabilities, Capability, EmbedRequest, ErrorReason, Failure, GenerateRequest, Lane,
    ModelFacts, ModelRef, Prompt,
};
use std::{sync::Arc, time::Duration};

/// A vendor call that is about to be made.
pub(crate) struct Call {
    pub(crate) model: ModelRef,
    pub(crate) facts: ModelFacts,
    /// Whether the catalogue lists the model: an unlisted name must not become a metric label.
    pub(crate) listed: bool,
    pub(crate) vendor: Arc<dyn VendorApi>,
    pub(crate) request: GenerateRequest,
    pub(crate) prompt_tokens: u64,
    pub(crate) timeout: Option<Duration>,
    /// Time to the first content of a stream.
    pub(crate) first_content_timeout: Option<Duration>,
    pub(crate) keep_reasoning: bool,
    pub(crate) adjustments: Vec<Adjustment>,
    pub(crate) operation: &'static str,
    /// What is done to it on purpose.
    pub(crate) injected: Option<Injected>,
    /// Nobody asked for it: it only looks whether the vendor answers.
    pub(crate) probe: bool,
}

impl Call {
    /// Checks a request and finds its vendor.
    pub(crate) fn prepare(
        dependencies: &Dependencies,
        wire: v1::InvokeModelRequest,
        stream: bool,
    ) -> Result<Self, Failure> {
        let wanted = if stream { Capability::Streaming } else { Capability::Text };
        let request = convert::generate_request_from_proto(wire.request.unwrap_or_default())?;
        let timeout = wire.timeout.and_then(convert::duration_from_proto);
        let first_content_timeout = wire.first_content_timeout.and_then(convert::duration_from_proto);
        let injected = Injected::read(wire.fault, &dependencies.config)?;
        let mut call = Self::to(dependencies, wire.target, wanted, request, timeout)?;
        if let Some(injected) = injected {
            call.inject(injected, &dependencies.config.catalog());
        }
        call.first_content_timeout = first_content_timeout.filter(|_| stream);
        call.prompt_tokens = estimate_prompt_tokens(&call.request.prompt);
        // Where tools are in play the vendor may want its reasoning back, so all of it is passed on.
        call.keep_reasoning = call.request.prompt.include_reasoning || !call.request.prompt.tools.is_empty();
        call.adjustments.extend(bound_answer(&mut call.request.prompt, &call.facts));
        Ok(call)
    }

    /// As [`Call::prepare`], for a heartbeat.
    pub(crate) fn probe(
        dependencies: &Dependencies,
        model: &ModelRef,
        timeout: Duration,
        request: impl FnOnce(&ModelFacts) -> GenerateRequest,
    ) -> Result<Self, Failure> {
        let target = v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() };
        let unsaid = GenerateRequest::default();
        let mut call = Self::to(dependencies, Some(target), Capability::Streaming, unsaid, Some(timeout))?;
        call.request = request(&call.facts);
        call.prompt_tokens = estimate_prompt_tokens(&call.request.prompt);
        call.probe = true;
        Ok(call)
    }

    /// As [`Call::prepare`], for vectors.
    pub(crate) fn prepare_embedding(
        dependencies: &Dependencies,
        wire: v1::InvokeEmbeddingRequest,
    ) -> Result<(Self, EmbedRequest), Failure> {
        let wire_request = wire.request.unwrap_or_default();
        let request = GenerateRequest {
            request_id: wire_request.request_id.clone(),
            tenant_id: wire_request.tenant_id.clone(),
            lane: Lane::Interactive,
            ..GenerateRequest::default()
        };
        let embed = convert::embed_request_from_proto(wire_request)?;
        let timeout = wire.timeout.and_then(convert::duration_from_proto);
        let mut call = Self::to(dependencies, wire.target, Capability::Embeddings, request, timeout)?;
        call.operation = "embeddings";
        call.prompt_tokens = estimate_input_tokens(&embed.inputs);
        Ok((call, embed))
    }

    fn to(
        dependencies: &Dependencies,
        target: Option<v1::Target>,
        wanted: Capability,
        request: GenerateRequest,
        timeout: Option<Duration>,
    ) -> Result<Self, Failure> {
        let target = target.ok_or_else(|| Failure::invalid("target", "is missing"))?;
        let model = ModelRef::new(target.vendor, target.model);
        let catalog = dependencies.config.catalog();
        let (facts, listed) = describe(&catalog, &model, Day::of(dependencies.clock.now()))?;
        // The router plans by the same facts; a caller that goes past it is held to them too.
        let missing = Capabilities::NONE.with(wanted).without(facts.capabilities);
        if missing != Capabilities::NONE {
            let message = format!("{model} lacks {}", wanted.name());
            return Err(Failure::new(ErrorReason::NoCapableModel, message));
        }
        let vendor = dependencies.vendors.load().get(&model.vendor).cloned().ok_or_else(|| {
            let message = format!("vendor `{}` has no key or address on this adapter", model.vendor);
            Failure::new(ErrorReason::VendorAuth, message)
        })?;
        Ok(Self {
            model,
            facts,
            listed,
            vendor,
            request,
            prompt_tokens: 0,
            timeout,
            first_content_timeout: None,
            keep_reasoning: false,
            adjustments: Vec::new(),
            operation: "chat",
            injected: None,
            probe: false,
        })
    }

    /// From now on the vendor has a fault.
    fn inject(&mut self, injected: Injected, catalog: &Catalog) {
        let name = self.model.vendor.clone();
        let timeouts = catalog.vendor(&name).map(|vendor| vendor.timeouts).unwrap_or_default().into();
        self.injected = Some(injected.clone());
        self.vendor = Arc::new(FaultyVendor { name, vendor: self.vendor.clone(), injected, timeouts });
    }

    /// The model as the catalogue lists it: `vendor/*` where it does not.
    pub(crate) fn listed_as(&self) -> ModelRef {
        if self.listed {
            return self.model.clone();
        }
        ModelRef { vendor: self.model.vendor.clone(), model: Arc::from("*") }
    }

    pub(crate) fn target(&self) -> VendorTarget<'_> {
        VendorTarget { model: &self.model.model, facts: &self.facts, timeout: self.timeout }
    }
}

/// Lowers a wish above the model's own limit, which the vendor would refuse.
pub(crate) fn bound_answer(prompt: &mut Prompt, facts: &ModelFacts) -> Option<Adjustment> {
    let most = facts.max_output_tokens;
    let wanted = prompt.max_output_tokens.filter(|wanted| most > 0 && *wanted > most)?;
    prompt.max_output_tokens = Some(most);
    Some(Adjustment {
        field: "max_output_tokens".into(),
        description: format!("lowered from {wanted} to this model's limit of {most}").into(),
    })
}

fn describe(catalog: &Catalog, model: &ModelRef, day: Day) -> Result<(ModelFacts, bool), Failure> {
    let found = catalog.require(model, day)?;
    Ok((found.facts.clone(), found.reference == *model))
}
