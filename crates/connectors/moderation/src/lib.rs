//! Moderation endpoints over HTTP, as OpenAI's `/v1/moderations` speaks.

mod breaker;
mod client;
mod wire;

use async_trait::async_trait;
use breaker::Breakers;
use client::Clients;
use http::StatusCode;
use reqwest::Response;
use signalbox_ports::{Judgement, ModerationEndpoint, Moderator, NotJudged};

/// Longest answer that is read.
const LONGEST: usize = 4 << 20;

/// [`Moderator`] over HTTP. Its connections belong to the runtime that first used them: make one for each.
///
/// An endpoint that fails several times in a row is not asked for some seconds.
#[derive(Debug, Default)]
pub struct HttpModerator {
    clients: Clients,
    breakers: Breakers,
}

#[async_trait]
impl Moderator for HttpModerator {
    async fn judge(
        &self,
        endpoint: ModerationEndpoint<'_>,
        texts: &[String],
    ) -> Result<Vec<Judgement>, NotJudged> {
        if !self.breakers.may_ask(endpoint.url) {
            return Err(NotJudged("it is left alone, having failed several times in a row".to_owned()));
        }
        let judged = self.ask(endpoint, texts).await;
        self.breakers.note(endpoint.url, judged.is_ok());
        judged
    }
}

impl HttpModerator {
    async fn ask(
        &self,
        endpoint: ModerationEndpoint<'_>,
        texts: &[String],
    ) -> Result<Vec<Judgement>, NotJudged> {
        let url = format!("{}/v1/moderations", endpoint.url);
        let mut request = self
            .clients
            .of(&url)?
            .post(&url)
            .timeout(endpoint.timeout)
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(wire::request(endpoint.model, texts));
        if let Some(key) = endpoint.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.map_err(|error| no_answer(&error, endpoint))?;
        if response.status() != StatusCode::OK {
            return Err(NotJudged(format!("it answers {}", response.status())));
        }
        wire::judgements(&body(response, endpoint).await?, texts.len())
    }
}

async fn body(mut response: Response, endpoint: ModerationEndpoint<'_>) -> Result<Vec<u8>, NotJudged> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| no_answer(&error, endpoint))? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST {
            return Err(NotJudged(format!("its answer is longer than {LONGEST} bytes")));
        }
    }
    Ok(body)
}

/// In words without the address, which the configuration knows.
fn no_answer(error: &reqwest::Error, endpoint: ModerationEndpoint<'_>) -> NotJudged {
    NotJudged(match error {
        error if error.is_timeout() => format!("no answer within {} ms", endpoint.timeout.as_millis()),
        error if error.is_connect() => "it cannot be reached".to_owned(),
        _ => "its answer broke off".to_owned(),
    })
}
