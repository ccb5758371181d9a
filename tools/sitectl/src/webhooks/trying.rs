//! `sitectl webhooks test` and `preview`: a sample event for an endpoint.

use ::webhooks::{Secrets, WebhookSender, WebhookSettings, sample};
use anyhow::{Context as _, anyhow};
use clap::Args;
use http::{HeaderMap, Request};
use serde_json::{Value, json};
use site_broker::{Endpoint, Endpoints};
use site_events::EventType;
use time::OffsetDateTime;

use crate::output::{print_output, printable};

/// In characters.
const MAX_SHOWN_BODY: usize = 4000;

#[derive(Args, Debug)]
pub struct TryArgs {
    /// Name of the endpoint in the setting WEBHOOKS
    name: String,
    /// Event type of the sample; by default the endpoint's first
    #[arg(long)]
    event: Option<String>,
    /// Webhook endpoints, as JSON; the same as the notifier's
    #[arg(long, env = "WEBHOOKS", hide_env_values = true, value_parser = Endpoints::parse)]
    webhooks: Endpoints,
    #[command(flatten)]
    settings: WebhookSettings,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Shows the requests of a sample, without reading secrets.
///
/// # Errors
///
/// If the endpoint or event does not exist, or its recipe fails.
pub fn preview(args: &TryArgs) -> anyhow::Result<()> {
    let (endpoint, event) = args.chosen()?;
    let sender = args.sender(endpoint, &Secrets::hidden())?;
    let now = OffsetDateTime::now_utc();
    let (mut lines, mut document) = (Vec::new(), Vec::new());
    for (step, request) in sender.preview(&sample(event, now), now)? {
        let (text, request) = shown_request(&sender, &request);
        lines.extend([format!("# {step}"), text]);
        document.push(json!({ "step": step, "request": request }));
    }
    print_output(args.json, &json!({ "requests": document }), lines)
}

/// # Errors
///
/// If the endpoint or event does not exist, or the sample is rejected.
pub async fn test(args: &TryArgs) -> anyhow::Result<()> {
    let (endpoint, event) = args.chosen()?;
    let sender = args.sender(endpoint, &args.settings.secrets())?;
    let (now, mut seen) = (OffsetDateTime::now_utc(), Vec::new());
    let sent = sender.send(&sample(event, now), now, Some(&mut seen)).await;
    let (mut lines, mut document) = (Vec::new(), Vec::new());
    for seen in &seen {
        let (text, request) = shown_request(&sender, &seen.request);
        let milliseconds = seen.took.as_millis();
        let (line, answer, error) = match &seen.answer {
            Ok(answer) => {
                let (status, body) = (answer.status, shown_body(&sender, &answer.body));
                let headers = shown_headers(&sender, &answer.headers);
                let line = format!("< {status} after {milliseconds} ms\n{body}\n");
                let answer = json!({ "status": status.as_u16(), "headers": headers, "body": body });
                (line, answer, None)
            }
            Err(error) => (format!("< {error}\n"), Value::Null, Some(error.to_string())),
        };
        lines.extend([text, line]);
        document.push(json!({
            "request": request, "answer": answer, "error": error, "milliseconds": milliseconds,
        }));
    }
    let document = json!({ "taken": sent.is_ok(), "requests": document });
    print_output(args.json, &document, lines)?;
    sent.map(drop)
        .map_err(|error| anyhow!("The sample was rejected: {error}."))
}

impl TryArgs {
    fn chosen(&self) -> anyhow::Result<(&Endpoint, EventType)> {
        let (name, event) = (&self.name, self.event.as_deref());
        let mut endpoints = self.webhooks.iter();
        let endpoint = endpoints.find(|endpoint| endpoint.name.to_string() == *name);
        let endpoint = endpoint.with_context(|| format!("The setting WEBHOOKS names no endpoint {name}."))?;
        let mut events = endpoint.events.iter().copied();
        let chosen = events.find(|known| event.is_none_or(|event| known.short_name() == event));
        let event = event.unwrap_or_default();
        let unknown = || format!("The endpoint {name} does not receive the event {event}.");
        Ok((endpoint, chosen.with_context(unknown)?))
    }

    fn sender(&self, endpoint: &Endpoint, secrets: &Secrets) -> anyhow::Result<WebhookSender> {
        let sender = WebhookSender::new(endpoint, &self.settings.client()?, secrets);
        sender.map_err(|error| anyhow!("The setting WEBHOOKS is wrong: {error}."))
    }
}

fn shown_request(sender: &WebhookSender, request: &Request<impl AsRef<[u8]>>) -> (String, Value) {
    let method = request.method().as_str();
    let url = sender.shown(&request.uri().to_string());
    let headers = shown_headers(sender, request.headers());
    let body = shown_body(sender, request.body().as_ref());
    let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
    let lines: String = lines.collect();
    let text = format!("{method} {url}\n{lines}\n{body}\n");
    let document = json!({ "method": method, "url": url, "headers": headers, "body": body });
    (text, document)
}

fn shown_headers(sender: &WebhookSender, headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        // These headers contain encoded secrets.
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
    printable(&text).chars().take(MAX_SHOWN_BODY).collect()
}
