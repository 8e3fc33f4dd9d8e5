//! A field that is added to a request must not be forgotten by the cache: two requests that differ in it would share an
//! answer. This stops compiling until somebody has put it into `signalbox-types`, and with that has decided in
//! `signalbox-caching` (`canonical/request.rs`) whether it counts.

use signalbox_api::v1;

#[test]
fn every_field_of_a_request_was_decided_on() {
    request(v1::GenerateRequest::default());
    parts();
    options();
}

fn request(request: v1::GenerateRequest) {
    let v1::GenerateRequest {
        // Count.
        messages: _,
        system: _,
        tools: _,
        tool_choice: _,
        parallel_tool_calls: _,
        sampling: _,
        max_output_tokens: _,
        stop: _,
        response_format: _,
        reasoning_effort: _,
        include_reasoning: _,
        task_type: _,
        tenant_id: _,
        locale: _,
        required_capabilities: _,
        // Count as CacheContext's.
        model: _,
        prompt_template: _,
        // Do not.
        metadata: _,
        end_user: _,
        scene: _,
        reference: _,
        lane: _,
        timeout: _,
        cache_mode: _,
        fallback_mode: _,
        request_id: _,
    } = request;
    let v1::CacheContext { requested: _, prompt_template: _, policy_version: _ } =
        v1::CacheContext::default();
}

fn parts() {
    let v1::Message { role: _, content: _ } = v1::Message::default();
    let v1::Part { purpose: _, part: _ } = v1::Part::default();
    let v1::Image { media_type: _, detail: _, source: _ } = v1::Image::default();
    let v1::ToolCall { id: _, name: _, arguments: _, signature: _ } = v1::ToolCall::default();
    let v1::ToolResult { tool_call_id: _, name: _, content: _, is_error: _ } = v1::ToolResult::default();
    let v1::Reasoning { text: _, signature: _, redacted: _, vendor: _ } = v1::Reasoning::default();
}

fn options() {
    let v1::Tool { name: _, description: _, parameters_schema: _, strict: _ } = v1::Tool::default();
    let v1::ToolChoice { mode: _, tool_name: _ } = v1::ToolChoice::default();
    let v1::Sampling {
        temperature: _,
        top_p: _,
        top_k: _,
        presence_penalty: _,
        frequency_penalty: _,
        seed: _,
    } = v1::Sampling::default();
    let v1::ResponseFormat { format: _ } = v1::ResponseFormat::default();
    let v1::JsonObjectFormat {} = v1::JsonObjectFormat::default();
    let v1::JsonSchemaFormat { name: _, schema: _, strict: _ } = v1::JsonSchemaFormat::default();
}
