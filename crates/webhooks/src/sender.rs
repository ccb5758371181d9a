//! Sends events to one endpoint, in its format.

use bytes::Bytes;
use http::{Request, Uri};
use site_broker::{
    Endpoint,
    endpoints::{EndpointName, Format},
};
use site_events::event;
use site_service::settings::ExposeSecret;
use time::OffsetDateTime;
use url::Url;

use crate::{
    addresses::{PrivateAddresses, ensure_public},
    client::{Exchange, WebhookClient},
    outgoing::Outgoing,
    recipe::{Recipe, RecipeSender, Secrets, Tokens},
    sending_error::SendingError,
    signed::{Signed, judge},
    slack,
};

/// Why an endpoint is invalid.
#[derive(Debug, thiserror::Error)]
#[error("endpoint {0}: {1}")]
pub struct InvalidEndpoint(EndpointName, String);

/// Sender of one endpoint.
pub struct WebhookSender {
    client: WebhookClient,
    uri: Uri,
    way: Way,
}

enum Way {
    Signed(Signed),
    Template(Box<RecipeSender>),
}

impl WebhookSender {
    /// Checks the endpoint's address, secrets and recipe.
    ///
    /// # Errors
    ///
    /// If the address is invalid or not allowed, a secret is malformed, or a line of the recipe is wrong.
    pub fn new(
        endpoint: &Endpoint,
        client: &WebhookClient,
        secrets: &Secrets,
    ) -> Result<Self, InvalidEndpoint> {
        Self::checked(endpoint, client, secrets)
            .map_err(|reason| InvalidEndpoint(endpoint.name.clone(), reason))
    }

    fn checked(endpoint: &Endpoint, client: &WebhookClient, secrets: &Secrets) -> Result<Self, String> {
        let no_address = "its url is no address such as https://crm.example/hooks";
        let url = Url::parse(endpoint.url.expose_secret()).map_err(|_| no_address)?;
        // The client parses the address as a `Uri`. If the two parsers found different hosts, a private
        // address could pass the check.
        let uri: Uri = url.as_str().parse().map_err(|_| no_address)?;
        if uri.host() != url.host_str() {
            return Err(no_address.to_owned());
        }
        if client.private() == PrivateAddresses::Refused {
            ensure_public(&url)?;
        }
        let signed = |media_type, body| Signed::new(&endpoint.secrets, media_type, body).map(Way::Signed);
        let way = match endpoint.format {
            Format::CloudEvents => signed(event::CONTENT_TYPE, |stored| Ok(stored.clone()))?,
            Format::Slack => signed("application/json", |stored| slack::message(stored))?,
            Format::Template => Way::Template(Box::new(by_recipe(endpoint, &uri, client, secrets)?)),
        };
        Ok(Self {
            client: client.clone(),
            uri,
            way,
        })
    }

    /// Sends the event once and returns the status of the last answer, if any. Adds requests and answers to
    /// `seen`.
    ///
    /// # Errors
    ///
    /// If the receiver is unreachable, does not answer in time, or rejects the event.
    pub async fn send(
        &self,
        event: &Outgoing,
        now: OffsetDateTime,
        seen: Option<&mut Vec<Exchange>>,
    ) -> Result<Option<u16>, SendingError> {
        let request = match &self.way {
            Way::Template(recipe) => return recipe.send(event, now, seen).await,
            Way::Signed(signed) => signed.request(&self.uri, event, now)?,
        };
        let answer = self.client.send_seen(request, seen).await?;
        judge(&answer, now).map(Some)
    }

    /// Builds the requests of an event without sending them. Values from earlier answers are placeholders.
    ///
    /// # Errors
    ///
    /// If the event cannot be turned into requests.
    pub fn preview(
        &self,
        event: &Outgoing,
        now: OffsetDateTime,
    ) -> Result<Vec<(String, Request<Bytes>)>, SendingError> {
        match &self.way {
            Way::Template(recipe) => recipe.preview(event),
            Way::Signed(signed) => Ok(vec![(
                "webhook".to_owned(),
                signed.request(&self.uri, event, now)?,
            )]),
        }
    }

    /// Hides secrets in a request or answer, and the path of the endpoint's address, which may be a secret.
    pub fn shown(&self, text: &str) -> String {
        let path = self.uri.path_and_query().map_or("", |path| path.as_str());
        let text = if path.len() > 1 {
            text.replace(path, "/[url]")
        } else {
            text.to_owned()
        };
        match &self.way {
            Way::Template(recipe) => recipe.secrets.hide(&text),
            Way::Signed(_) => text,
        }
    }

    /// Host and port of the endpoint, for spans. The rest of its address may be a secret.
    pub fn address(&self) -> (Option<&str>, Option<u16>) {
        let usual = if self.uri.scheme_str() == Some("http") {
            80
        } else {
            443
        };
        (self.uri.host(), Some(self.uri.port_u16().unwrap_or(usual)))
    }
}

fn by_recipe(
    endpoint: &Endpoint,
    base: &Uri,
    client: &WebhookClient,
    secrets: &Secrets,
) -> Result<RecipeSender, String> {
    let path = endpoint.recipe.as_deref().ok_or("it names no recipe")?;
    let recipe = Recipe::read(path, secrets.clone()).map_err(|error| error.to_string())?;
    let checked = recipe.check(base, &endpoint.events, &endpoint.values, client.private());
    checked.map_err(|error| error.to_string())?;
    Ok(RecipeSender {
        recipe,
        base: base.clone(),
        values: endpoint.values.clone(),
        client: client.clone(),
        secrets: secrets.clone(),
        tokens: Tokens::default(),
    })
}

#[cfg(test)]
mod tests {
    use site_broker::Endpoints;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    use super::*;

    const URL: &str = "https://crm.example/hooks";
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn refusal(url: &str, secret: &str) -> Option<String> {
        let raw = format!(
            r#"[{{"name": "crm", "url": "{url}", "secrets": ["{secret}"], "events": ["contact.received"]}}]"#
        );
        let endpoints = Endpoints::parse(&raw).expect("endpoints");
        let endpoint = endpoints.iter().next().expect("one");
        let tls = ClientConfig::builder()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let client = WebhookClient::new(PrivateAddresses::Refused, tls);
        WebhookSender::new(endpoint, &client, &Secrets::in_folder(None))
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn a_wrong_endpoint_is_named_with_the_reason() {
        assert_eq!(refusal(URL, SECRET), None);
        for (url, secret, said) in [
            ("http://crm.example/hooks", SECRET, "not https"),
            ("https://10.0.0.7/hooks", SECRET, "private address"),
            ("https://0x7f000001/hooks", SECRET, "private address"),
            ("https://2130706433/hooks", SECRET, "private address"),
            ("https://localhost/hooks", SECRET, "this very host"),
            ("https://crm.localhost/hooks", SECRET, "this very host"),
            ("https://localhost./hooks", SECRET, "this very host"),
            ("https://crm{1}.example/hooks", SECRET, "no address"),
            ("https://[::1]/hooks", SECRET, "private address"),
            ("https://[::ffff:10.0.0.1]/hooks", SECRET, "private address"),
            ("https://169.254.169.254/latest", SECRET, "private address"),
            (URL, "whsec_c2hvcnQ=", "24 bytes"),
            (URL, "whsec_dHdlbnR5LXRocmVlIGJ5dGVzIGhlcmU=", "24 bytes"),
            (URL, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_"),
        ] {
            let refusal = refusal(url, secret).unwrap_or_default();
            assert!(refusal.starts_with("endpoint crm: "), "{url}: {refusal}");
            assert!(refusal.contains(said), "{url}: {refusal}");
        }
    }
}
