//! `sitectl webhooks test` and `preview`: a sample, as an endpoint gets it.

use std::sync::Arc;

use ::webhooks::{Secrets, WebhookSender, WebhookSettings, sample};
use anyhow::{Context as _, bail};
use clap::Args;
use http::{HeaderMap, Request};
use serde::Serialize;
use serde_json::json;
use site_broker::{Endpoint, Endpoints};
use site_events::EventType;
use time::OffsetDateTime;

use crate::output::{print_output, printable};

/// The most characters of a body that are shown.
const MAX_SHOWN: usize = 4000;

/// Which endpoint, and how it is reached.
#[derive(Args, Debug)]
pub struct TryArgs {
    /// Its name in the setting WEBHOOKS
    name: String,
    /// Of which event; the first one that the endpoint hears of by default
    #[arg(long)]
    event: Option<String>,
    /// Who gets webhooks, as JSON; the same as the notifier's
    #[arg(long, env = "WEBHOOKS", hide_env_values = true, value_parser = Endpoints::parse)]
    webhooks: Endpoints,
    #[command(flatten)]
    reached: WebhookSettings,
    /// Answers in JSON
    #[arg(long)]
    json: bool,
}

/// A request as it is shown.
#[derive(Serialize)]
struct ShownRequest {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// Shows what would be sent. No secret is read for it.
///
/// # Errors
///
/// If there is no such endpoint or event, or nothing can be made of it.
pub fn preview(args: &TryArgs) -> anyhow::Result<()> {
    let (endpoint, event) = args.chosen()?;
    let sender = args.sender(&endpoint, &Secrets::hidden())?;
    let now = OffsetDateTime::now_utc();
    let (mut lines, mut document) = (Vec::new(), Vec::new());
    for (step, request) in sender.preview(&sample(event, now), now)? {
        let request = ShownRequest::of(&sender, &request);
        lines.extend([format!("# {step}"), request.text()]);
        document.push(json!({ "step": step, "request": request }));
    }
    print_output(args.json, &json!({ "requests": document }), lines)
}

/// Sends a sample, and shows what was said.
///
/// # Errors
///
/// If there is no such endpoint or event, or the sample is not taken.
pub async fn test(args: &TryArgs) -> anyhow::Result<()> {
    let (endpoint, event) = args.chosen()?;
    let sender = args.sender(&endpoint, &args.reached.secrets())?;
    let (now, mut seen) = (OffsetDateTime::now_utc(), Vec::new());
    let sent = sender.send(&sample(event, now), now, Some(&mut seen)).await;
    let (mut lines, mut document) = (Vec::new(), Vec::new());
    for seen in &seen {
        let request = ShownRequest::of(&sender, &seen.request);
        let milliseconds = u64::try_from(seen.took.as_millis()).unwrap_or(u64::MAX);
        lines.push(request.text());
        document.push(match &seen.answer {
            Ok(answer) => {
                let (status, body) = (answer.status, shown_body(&sender, &answer.body));
                lines.push(format!("< {status} after {milliseconds} ms\n{body}\n"));
                let headers = shown_headers(&sender, &answer.headers);
                let answer = json!({ "status": status.as_u16(), "headers": headers, "body": body });
                json!({ "request": request, "answer": answer, "error": null, "milliseconds": milliseconds })
            }
            Err(error) => {
                lines.push(format!("< {error}\n"));
                let error = error.to_string();
                json!({ "request": request, "answer": null, "error": error, "milliseconds": milliseconds })
            }
        });
    }
    print_output(
        args.json,
        &json!({ "taken": sent.is_ok(), "requests": document }),
        lines,
    )?;
    if let Err(error) = sent {
        bail!("The sample was not taken: {error}.");
    }
    Ok(())
}

impl TryArgs {
    fn chosen(&self) -> anyhow::Result<(Arc<Endpoint>, EventType)> {
        let mut endpoints = self.webhooks.iter();
        let endpoint = endpoints.find(|endpoint| endpoint.name.to_string() == self.name);
        let endpoint = endpoint
            .with_context(|| format!("The setting WEBHOOKS names no endpoint {}.", self.name))?
            .clone();
        let wanted = |event: &&EventType| self.event.as_ref().is_none_or(|name| event.short_name() == name);
        let event = endpoint.events.iter().find(wanted).copied();
        let event = event.with_context(|| {
            let named = self.event.as_deref().unwrap_or_default();
            format!("The endpoint {} does not hear of the event {named}.", self.name)
        })?;
        Ok((endpoint, event))
    }

    fn sender(&self, endpoint: &Endpoint, secrets: &Secrets) -> anyhow::Result<WebhookSender> {
        let sender = WebhookSender::new(endpoint, &self.reached.client()?, secrets);
        sender.map_err(|error| anyhow::anyhow!("The setting WEBHOOKS is wrong: {error}."))
    }
}

impl ShownRequest {
    fn of(sender: &WebhookSender, request: &Request<impl AsRef<[u8]>>) -> Self {
        Self {
            method: request.method().to_string(),
            url: sender.shown(&request.uri().to_string()),
            headers: shown_headers(sender, request.headers()),
            body: shown_body(sender, request.body().as_ref()),
        }
    }

    fn text(&self) -> String {
        let headers = self.headers.iter();
        let headers: String = headers
            .map(|(name, value)| format!("{name}: {value}\n"))
            .collect();
        format!("{} {}\n{headers}\n{}\n", self.method, self.url, self.body)
    }
}

fn shown_headers(sender: &WebhookSender, headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        // What is encoded from a secret is one, too.
        let value = match *name {
            http::header::AUTHORIZATION | http::header::SET_COOKIE => "[hidden]".to_owned(),
            _ => printable(&sender.shown(&value)),
        };
        (name.to_string(), value)
    });
    shown.collect()
}

fn shown_body(sender: &WebhookSender, body: &[u8]) -> String {
    let text = sender.shown(&String::from_utf8_lossy(body));
    printable(&text).chars().take(MAX_SHOWN).collect()
}
