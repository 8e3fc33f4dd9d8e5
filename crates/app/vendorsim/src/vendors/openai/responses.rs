//! `POST /v1/responses`.

use super::chat::CREATED;
use super::{Dialect, responses_ask, responses_stream, usage};
use crate::answer::{self, Answer, Call as ToolCall, Finish};
use crate::call::Call;
use crate::json;
use crate::problem::Problem;
use crate::reply::Reply;
use serde_json::{Value, json};

/// The response, whole or streamed.
pub(crate) fn answer(call: &Call<'_>) -> Result<Reply, Problem> {
    answer_in(call, Dialect::Openai)
}

/// The same, counted as the dialect does.
pub(crate) fn answer_in(call: &Call<'_>, dialect: Dialect) -> Result<Reply, Problem> {
    let ask = responses_ask::read(call)?;
    let answer = answer::answer(&ask);
    let response = Response { call, answer: &answer, dialect };
    Ok(if json::flag(call.json()?, "stream") {
        responses_stream::render(&response)
    } else {
        Reply::json(200, &response.finished())
    })
}

/// An answer on its way out.
pub(crate) struct Response<'a> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) answer: &'a Answer,
    dialect: Dialect,
}

impl Response<'_> {
    /// The whole response.
    pub(crate) fn finished(&self) -> Value {
        let cut = self.answer.finish == Finish::Length;
        let mut body = self.object(if cut { "incomplete" } else { "completed" });
        body["output"] = self.items().collect();
        if cut {
            body["incomplete_details"] = json!({"reason": "max_output_tokens"});
        } else {
            body["completed_at"] = (CREATED + 1).into();
        }
        if !self.call.quirks.no_usage {
            body["usage"] = usage::responses(self.answer.usage, &self.call.model, self.dialect);
        }
        body
    }

    /// The response while it is made.
    pub(crate) fn started(&self) -> Value {
        self.object("in_progress")
    }

    fn object(&self, status: &str) -> Value {
        let asked = self.call.json().unwrap_or(&Value::Null);
        let or = |name: &str, usual: Value| json::present(asked, name).cloned().unwrap_or(usual);
        json!({
            "id": self.call.seed.id("resp_", 0), "object": "response", "created_at": CREATED, "status": status,
            "background": false, "completed_at": null, "error": null, "incomplete_details": null,
            "instructions": or("instructions", Value::Null), "max_output_tokens": or("max_output_tokens", Value::Null),
            "model": self.call.model, "output": [], "parallel_tool_calls": or("parallel_tool_calls", true.into()),
            "previous_response_id": null, "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
            "store": or("store", true.into()), "temperature": or("temperature", 1.0.into()),
            "text": or("text", json!({"format": {"type": "text"}})), "tool_choice": or("tool_choice", "auto".into()),
            "tools": or("tools", json!([])), "top_p": or("top_p", 1.0.into()), "truncation": "disabled",
            "usage": null, "user": null, "metadata": or("metadata", json!({})),
        })
    }

    fn items(&self) -> impl Iterator<Item = Value> {
        let reasoning = self.has_reasoning().then(|| self.reasoning_item(true));
        let calls = self.answer.calls.iter().enumerate().map(|(n, made)| self.call_item(n, made, true));
        let message = self.has_message().then(|| self.message_item(true));
        reasoning.into_iter().chain(calls).chain(message)
    }

    pub(crate) fn has_reasoning(&self) -> bool {
        self.answer.usage.reasoning > 0
    }

    pub(crate) fn has_message(&self) -> bool {
        !self.answer.text.is_empty()
    }

    /// A summary is only there when it was asked for.
    pub(crate) fn summary(&self) -> Option<&str> {
        let asked = self.call.json().ok()?.pointer("/reasoning/summary");
        asked.filter(|asked| !asked.is_null()).map(|_| self.answer.reasoning.as_str())
    }

    /// The reasoning item; `done` says whether it is still being made.
    pub(crate) fn reasoning_item(&self, done: bool) -> Value {
        let parts = self.summary().filter(|_| done).into_iter();
        let summary: Value = parts.map(|text| json!({"type": "summary_text", "text": text})).collect();
        let mut item = json!({"id": self.item_id("rs_", 0), "type": "reasoning", "summary": summary});
        let include =
            self.call.json().map_or_else(|_| Vec::new(), |asked| json::strings(asked.get("include")));
        if done && include.contains(&"reasoning.encrypted_content") {
            item["encrypted_content"] =
                crate::seed::signature("gAAAAAsimulated-", &self.answer.reasoning).into();
        }
        item
    }

    /// The item of the `n`th tool call.
    pub(crate) fn call_item(&self, n: usize, made: &ToolCall, done: bool) -> Value {
        json!({
            "id": self.item_id("fc_", n), "type": "function_call", "call_id": self.item_id("call_", n),
            "status": if done { "completed" } else { "in_progress" }, "name": made.name,
            "arguments": if done { made.arguments_text.as_str() } else { "" },
        })
    }

    /// The item with the text.
    pub(crate) fn message_item(&self, done: bool) -> Value {
        let status = match self.answer.finish {
            _ if !done => "in_progress",
            Finish::Length => "incomplete",
            _ => "completed",
        };
        let content = if done { json!([self.text_part(&self.answer.text)]) } else { json!([]) };
        json!({"id": self.item_id("msg_", 0), "type": "message", "status": status, "role": "assistant", "content": content})
    }

    /// A part with text.
    pub(crate) fn text_part(&self, text: &str) -> Value {
        json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
    }

    /// Id of an item.
    pub(crate) fn item_id(&self, prefix: &str, n: usize) -> String {
        self.call.seed.id(prefix, n)
    }
}
