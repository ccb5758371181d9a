//! A recipe and an endpoint that uses it.

use std::{fs, path::Path};

use anyhow::Context as _;
use serde_json::{Value, json};
use site_broker::Endpoints;
use site_events::EventType;
use tempfile::TempDir;
use testkit::root;
use time::OffsetDateTime;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use webhooks::{Outgoing, PrivateAddresses, Secrets, WebhookClient, WebhookSender, sample, samples};

const SECRETS: [&str; 9] = [
    "hubspot-token",
    "salesforce-client-id",
    "salesforce-client-secret",
    "zoho-client-id",
    "zoho-client-secret",
    "zoho-refresh-token",
    "pipedrive-token",
    "greenhouse-key",
    "lever-key",
];

pub struct Setting {
    pub secrets: TempDir,
    endpoints: Endpoints,
    client: WebhookClient,
}

impl Setting {
    /// Uses a recipe of the repository for every event type for which the recipe has steps.
    pub fn of_repository(recipe: &str, url: &str, values: &Value) -> anyhow::Result<Self> {
        let path = root().join("recipes").join(recipe);
        let text = fs::read_to_string(&path)?;
        let events = EventType::ALL.map(EventType::short_name);
        let events: Vec<&str> = events.into_iter().filter(|event| names(&text, event)).collect();
        Self::at(&path, url, &events, values)
    }

    pub fn of_events(recipe: &str, url: &str, events: &[&str], values: &Value) -> anyhow::Result<Self> {
        Self::at(&root().join("recipes").join(recipe), url, events, values)
    }

    pub fn of(text: &str, url: &str, events: &[&str]) -> anyhow::Result<(Self, TempDir)> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("recipe.yaml");
        fs::write(&path, text)?;
        Ok((Self::at(&path, url, events, &json!({ "who": "us" }))?, folder))
    }

    fn at(path: &Path, url: &str, events: &[&str], values: &Value) -> anyhow::Result<Self> {
        let secrets = tempfile::tempdir()?;
        for name in SECRETS {
            fs::write(secrets.path().join(name), format!("value-of-{name}\n"))?;
        }
        let endpoint = json!([{
            "name": "crm", "url": url, "events": events, "format": "template", "recipe": path, "values": values,
        }]);
        let tls = ClientConfig::builder()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let private = if url.starts_with("https") {
            PrivateAddresses::Refused
        } else {
            PrivateAddresses::Allowed
        };
        Ok(Self {
            secrets,
            endpoints: Endpoints::parse(&endpoint.to_string()).map_err(anyhow::Error::msg)?,
            client: WebhookClient::new(private, tls),
        })
    }

    /// Fails if the recipe has an error.
    pub fn sender(&self) -> anyhow::Result<WebhookSender> {
        let endpoint = self.endpoints.iter().next().context("one")?;
        let secrets = Secrets::in_folder(Some(self.secrets.path().to_owned()));
        Ok(WebhookSender::new(endpoint, &self.client, &secrets)?)
    }

    pub fn events(&self) -> Vec<EventType> {
        self.endpoints
            .iter()
            .flat_map(|endpoint| endpoint.events.clone())
            .collect()
    }
}

/// Values that the repository's recipes need.
pub fn values(token_url: &str) -> Value {
    json!({
        "token_url": token_url, "company": "unknown", "oid": "00D000000000001", "board": "example",
        "jobs": { "AI Intern": 1 }, "job": 2, "perform_as": "u", "postings": { "AI Intern": "p-1" },
        "posting": "p-2", "person_field": "Site_Person_Id",
    })
}

fn names(recipe: &str, event: &str) -> bool {
    let mut lines = recipe.lines().map(str::trim);
    lines.any(|line| line.starts_with("events:") && line.contains(event))
}

pub fn changed(event: EventType, change: impl FnOnce(&mut Value)) -> anyhow::Result<Outgoing> {
    let sample = sample(event, OffsetDateTime::now_utc());
    let mut content: Value = serde_json::from_slice(&sample.payload)?;
    change(&mut content);
    Ok(Outgoing {
        payload: content.to_string().into(),
        ..sample
    })
}

/// A sample without optional fields.
pub fn least(event: EventType) -> Outgoing {
    samples(event, OffsetDateTime::now_utc()).1
}
