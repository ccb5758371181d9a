//! Webhook endpoints and their events, from the setting `WEBHOOKS`.

use std::{collections::BTreeSet, fmt, path::PathBuf, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value};
use site_events::EventType;
use site_service::settings::{ExposeSecret, Secret};
use url::Url;

const MAX_NAME_CHARACTERS: usize = 40;

/// Endpoints of an installation, each with a unique name.
#[derive(Debug, Clone, Default)]
pub struct Endpoints(Vec<Arc<Endpoint>>);

/// One receiver of webhooks.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Endpoint {
    /// Name in settings, logs and dead letters.
    pub name: EndpointName,
    /// URL of the receiver. The URL of a chat tool is a secret.
    pub url: Secret,
    /// Signing secrets (`whsec_…`); several during a rotation.
    #[serde(default)]
    pub secrets: Vec<Secret>,
    /// Types of the events that the endpoint gets.
    #[serde(deserialize_with = "events")]
    pub events: Vec<EventType>,
    /// Format of the requests.
    #[serde(default)]
    pub format: Format,
    /// Recipe file, if the format is `template`.
    #[serde(default)]
    pub recipe: Option<PathBuf>,
    /// The recipe's values for this installation.
    #[serde(default)]
    pub values: Map<String, Value>,
}

/// Format of an endpoint's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The stored CloudEvent.
    #[default]
    CloudEvents,
    /// A message for people in Slack or a similar tool.
    Slack,
    /// A request defined by a recipe.
    Template,
}

/// Name of 1 to 40 lower-case letters, digits and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct EndpointName(String);

impl Endpoints {
    /// Parses the setting, a JSON array of endpoints.
    ///
    /// # Errors
    ///
    /// A sentence for the log, if the setting is invalid.
    pub fn parse(raw: &str) -> Result<Self, String> {
        let endpoints = serde_json::from_str(raw);
        let endpoints: Vec<Endpoint> =
            endpoints.map_err(|error| format!("it is not a list of endpoints: {}", reason_of(&error)))?;
        let mut names = BTreeSet::new();
        for endpoint in &endpoints {
            let name = &endpoint.name;
            if !names.insert(name) {
                // Two endpoints with the same name would share delivery records.
                return Err(format!("two endpoints are called {name}"));
            }
            endpoint
                .check()
                .map_err(|reason| format!("endpoint {name}: {reason}"))?;
        }
        Ok(Self(endpoints.into_iter().map(Arc::new).collect()))
    }

    /// All endpoints.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Endpoint>> {
        self.0.iter()
    }
}

impl Endpoint {
    /// Prefix of the consumer name of every endpoint.
    pub const CONSUMER_PREFIX: &str = "webhook-";

    /// Name of the endpoint's consumer, also in dead-letter subjects and delivery records.
    pub fn consumer(&self) -> String {
        format!("{}{}", Self::CONSUMER_PREFIX, self.name)
    }

    fn check(&self) -> Result<(), &'static str> {
        check_url(self.url.expose_secret())?;
        let (has_secrets, has_recipe) = (!self.secrets.is_empty(), self.recipe.is_some());
        match self.format {
            _ if self.events.is_empty() => Err("it names no events"),
            Format::Template if !has_recipe => Err("it has the format template and names no recipe"),
            Format::Template if has_secrets => {
                Err("its secrets would sign nothing; a recipe names those that it needs")
            }
            Format::CloudEvents if !has_secrets => {
                Err("it has no secret to sign with; only the formats slack and template need none")
            }
            Format::CloudEvents | Format::Slack if has_recipe || !self.values.is_empty() => {
                Err("only the format template has a recipe and values")
            }
            Format::Template | Format::CloudEvents | Format::Slack => Ok(()),
        }
    }
}

impl fmt::Display for EndpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for EndpointName {
    type Error = String;

    fn try_from(raw: String) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if (1..=MAX_NAME_CHARACTERS).contains(&raw.len()) && raw.chars().all(fits) {
            Ok(Self(raw))
        } else {
            Err(format!(
                "a name has 1 to {MAX_NAME_CHARACTERS} lower-case letters, digits and hyphens"
            ))
        }
    }
}

/// serde's message, unless it quotes a value, which could be a misplaced secret.
fn reason_of(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let repeats_a_value = ["invalid type", "invalid value", "unknown variant"]
        .iter()
        .any(|begin| said.starts_with(begin));
    if !repeats_a_value {
        return said;
    }
    let (line, column) = (error.line(), error.column());
    format!("a value is of another kind than belongs there, at line {line} column {column}")
}

fn check_url(raw: &str) -> Result<(), &'static str> {
    let url = Url::parse(raw).map_err(|_| "its url is no address such as https://crm.example/hooks")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("its url begins neither with https:// nor with http://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "its url holds a user or a password, which nobody would send; webhooks are signed instead",
        );
    }
    Ok(())
}

fn events<'de, D: serde::Deserializer<'de>>(raw: D) -> Result<Vec<EventType>, D::Error> {
    let names = Vec::<String>::deserialize(raw)?;
    names
        .iter()
        .map(|name| {
            EventType::short_named(name).ok_or_else(|| {
                let all: Vec<&str> = EventType::ALL.map(EventType::short_name).to_vec();
                serde::de::Error::custom(format!("there is no event {name}; there are {}", all.join(", ")))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRM: &str = r#"[{"name": "crm", "url": "https://crm.example/hooks", "secrets": ["whsec_AAAA"],
        "events": ["contact.received"]}]"#;
    const SECRETS: &str = r#""secrets": ["whsec_AAAA"],"#;

    fn refusal(raw: &str) -> String {
        let refusal = Endpoints::parse(raw).err().unwrap_or_default();
        assert!(!refusal.contains("whsec"), "{refusal}");
        refusal
    }

    #[test]
    fn an_endpoint_has_a_consumer_of_its_own() {
        let raw = CRM
            .replace("crm\"", "crm-2\"")
            .replace("received\"", "received\", \"careers.applied\"");
        let endpoints = Endpoints::parse(&raw).expect("an endpoint");
        let crm = endpoints.iter().next().expect("one");
        assert_eq!(crm.consumer(), "webhook-crm-2");
        assert_eq!(
            crm.events,
            [EventType::ContactReceived, EventType::CareersApplied]
        );
        assert_eq!(crm.format, Format::CloudEvents);
    }

    #[test]
    fn a_wrong_endpoint_is_named_without_its_secret() {
        let one = CRM.trim_matches(['[', ']']);
        let twice = format!("[{one}, {one}]");
        let long = format!("{}\"", "c".repeat(41));
        for (right, wrong, said) in [
            (CRM, "{}", "not a list of endpoints"),
            (CRM, twice.as_str(), "two endpoints are called crm"),
            ("contact.received", "contact.read", "no event contact.read;"),
            ("\"crm\"", "\"C R M\"", "lower-case letters"),
            ("https://crm", "crm", "endpoint crm: its url is no address"),
            ("https://crm", "crm:443/", "begins neither with https"),
            ("https:", "ftp:", "begins neither with https"),
            ("https://", "https://user:hunter2@", "a user or a password"),
            ("https://", "https://user@", "a user or a password"),
            ("https://", "https://:hunter2@", "a user or a password"),
            ("crm\"", long.as_str(), "1 to 40"),
            ("crm\"", "\"", "1 to 40"),
            ("\"contact.received\"", "", "endpoint crm: it names no events"),
            (SECRETS, "", "has no secret"),
            ("events", "event", "unknown field"),
            // Settings with a misplaced secret.
            (CRM, "\"whsec_AAAA\"", "line 1 column"),
            ("[\"whsec_AAAA\"]", "\"whsec_AAAA\"", "line 1 column"),
            ("\"https://crm.example/hooks\"", "[\"whsec_AAAA\"]", "line 1"),
            ("[\"contact.received\"]", "\"whsec_AAAA\"", "line 2 column"),
            (SECRETS, "\"format\": \"whsec_AAAA\",", "line 1 column"),
        ] {
            let raw = CRM.replace(right, wrong);
            let refusal = refusal(&raw);
            assert!(refusal.contains(said), "{raw}: {refusal}");
        }
    }

    #[test]
    fn a_recipe_goes_with_the_format_template_alone() {
        let with = |more: &str| CRM.replace("\"events\"", &format!("{more}, \"events\""));
        let template = r#""format": "template""#;
        let recipe = r#""recipe": "crm.yaml""#;
        let templated = format!("{template}, {recipe}");
        let only_templates = "only the format template has a recipe";
        for (raw, said) in [
            (with(template).replace(SECRETS, ""), "and names no recipe"),
            (with(&templated), "its secrets would sign nothing"),
            (with(recipe), only_templates),
            (with(r#""values": {"owner": 1}"#), only_templates),
            (with(&templated).replace(SECRETS, ""), ""),
            (with(r#""format": "slack""#).replace(SECRETS, ""), ""),
        ] {
            let refusal = refusal(&raw);
            assert!(refusal.contains(said), "{raw}: {refusal}");
            assert_eq!(refusal.is_empty(), said.is_empty(), "{raw}: {refusal}");
        }
    }
}
