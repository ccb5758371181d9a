//! Sends an event by a recipe, step by step: later steps use values of earlier answers.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri};
use serde_json::{Map, Value as Json};
use site_broker::Remedy;
use time::OffsetDateTime;
use tokio::time::timeout;

use super::{
    RecipeError, Secrets,
    context::EventContext,
    file::Meaning,
    reading::{Recipe, Step},
    templates::ErrorDetail,
    tokens::Tokens,
};
use crate::{
    client::{Answer, Exchange, WebhookClient, retry_after},
    outgoing::Outgoing,
    sending_error::{ErrorCode, SendingError, retry_of},
};

/// Timeout of all steps of an event together.
pub const DELIVERY_TIMEOUT: Duration = Duration::from_secs(60);

pub struct RecipeSender {
    pub recipe: Recipe,
    pub base: Uri,
    pub values: Map<String, Json>,
    pub client: WebhookClient,
    pub secrets: Secrets,
    pub tokens: Tokens,
}

impl From<RecipeError> for SendingError {
    fn from(error: RecipeError) -> Self {
        Self::Recipe(error.to_string())
    }
}

impl RecipeSender {
    pub async fn send(
        &self,
        event: &Outgoing,
        now: OffsetDateTime,
        seen: Option<&mut Vec<Exchange>>,
    ) -> Result<Option<u16>, SendingError> {
        let sending = self.make_steps(event, now, seen);
        let sent = timeout(DELIVERY_TIMEOUT, sending).await;
        sent.map_err(|_| SendingError::NoAnswer(format!("not all steps within {DELIVERY_TIMEOUT:?}")))?
    }

    pub fn preview(&self, event: &Outgoing) -> Result<Vec<(String, Request<Bytes>)>, SendingError> {
        let context = self.recipe.context(event, &self.values)?;
        Ok(self.recipe.requests(&self.base, &context, ErrorDetail::Full)?)
    }

    async fn make_steps(
        &self,
        event: &Outgoing,
        now: OffsetDateTime,
        mut seen: Option<&mut Vec<Exchange>>,
    ) -> Result<Option<u16>, SendingError> {
        let mut context = self.recipe.context(event, &self.values)?;
        let mut status = None;
        for step in self.recipe.steps_for(context.event_type) {
            if !self.is_wanted(step, &context)? {
                continue;
            }
            let answer = self.ask(step, &context, seen.as_deref_mut()).await?;
            status = Some(answer.status.as_u16());
            let body: Json = serde_json::from_slice(&answer.body).unwrap_or_default();
            self.judge(step, &answer, &body, now)?;
            for keep in &step.keep {
                if let Some(value) = keep.of(&body) {
                    context.keep(&step.name, &keep.name, value);
                }
            }
        }
        Ok(status)
    }

    fn is_wanted(&self, step: &Step, context: &EventContext) -> Result<bool, RecipeError> {
        let templates = &self.recipe.templates;
        // The access token is not requested yet, so a condition cannot use it.
        step.when.as_ref().map_or(Ok(true), |when| {
            templates.is_true(when, &context.values(None), ErrorDetail::Position)
        })
    }

    /// Sends a step's request. If the receiver rejects the access token, retries once with a new one.
    async fn ask(
        &self,
        step: &Step,
        context: &EventContext,
        mut seen: Option<&mut Vec<Exchange>>,
    ) -> Result<Answer, SendingError> {
        let mut is_renewed = false;
        loop {
            let token = self.token().await?;
            let values = context.values(token.as_deref());
            let request = self
                .recipe
                .request(step, &self.base, &values, ErrorDetail::Position)?;
            let answer = self.client.send_seen(request, seen.as_deref_mut()).await?;
            match token {
                Some(token) if answer.status == StatusCode::UNAUTHORIZED && !is_renewed => {
                    self.tokens.forget(&token).await;
                    is_renewed = true;
                }
                _ => return Ok(answer),
            }
        }
    }

    async fn token(&self) -> Result<Option<String>, SendingError> {
        let Some(request) = self.recipe.token_request(&self.values, ErrorDetail::Position)? else {
            return Ok(None);
        };
        let token = self.tokens.get(&self.client, request).await?;
        self.secrets.note("access-token", &token);
        Ok(Some(token))
    }

    fn judge(
        &self,
        step: &Step,
        answer: &Answer,
        body: &Json,
        now: OffsetDateTime,
    ) -> Result<(), SendingError> {
        let status = answer.status.as_u16();
        let remedy = match step.answers.judge(status, body) {
            Meaning::Done => return Ok(()),
            Meaning::Again => retry_of(status, retry_after(&answer.headers, now).unwrap_or_default()),
            Meaning::Never => Remedy::DeadLetter,
        };
        let codes = self.recipe.error_codes.iter();
        let code = codes.filter_map(|pointer| body.pointer(pointer)?.as_str()).next();
        Err(SendingError::StepRejected {
            step: step.name.clone(),
            status,
            code: ErrorCode::of(code),
            remedy,
        })
    }
}
