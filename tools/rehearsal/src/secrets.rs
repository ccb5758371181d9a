//! The store of secrets that External Secrets fills a cluster's from: each value made up, and the same wherever it is asked for.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use serde::Deserialize;
use uuid::Uuid;

/// A secret that External Secrets would fill (`external-secrets.io/v1`), as far as it is used here.
#[derive(Deserialize)]
pub struct ExternalSecret {
    spec: ExternalSecretSpec,
}

#[derive(Deserialize)]
struct ExternalSecretSpec {
    target: Target,
    data: Vec<ExternalValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExternalValue {
    secret_key: String,
    remote_ref: RemoteRef,
}

/// Where a value lies in the store of secrets.
#[derive(Deserialize)]
struct RemoteRef {
    key: String,
    property: String,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Values by key and property of the store.
pub struct SecretStore {
    values: BTreeMap<(String, String), String>,
}

impl SecretStore {
    /// A store with these values; what else is asked for is made up.
    pub fn new(known: impl IntoIterator<Item = (&'static str, &'static str, String)>) -> Self {
        let values = known
            .into_iter()
            .map(|(key, property, value)| ((key.to_owned(), property.to_owned()), value));
        Self {
            values: values.collect(),
        }
    }

    /// Puts another value in the place of one.
    pub fn rotate(&mut self, key: &str, property: &str) {
        self.values
            .insert((key.to_owned(), property.to_owned()), made_up());
    }

    /// The secret that External Secrets would make of it.
    pub fn fill(&mut self, external: &ExternalSecret) -> (String, Secret) {
        let data = external.spec.data.iter().map(|value| {
            let filled = self.value(&value.remote_ref);
            (value.secret_key.clone(), ByteString(filled.into_bytes()))
        });
        let secret = Secret {
            data: Some(data.collect()),
            ..Secret::default()
        };
        (external.spec.target.name.clone(), secret)
    }

    fn value(&mut self, remote: &RemoteRef) -> String {
        let place = (remote.key.clone(), remote.property.clone());
        self.values.entry(place).or_insert_with(made_up).clone()
    }
}

/// Long enough for every key. A password at the broker begins with a letter.
fn made_up() -> String {
    format!("p{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// A key to sign mails with: the seed of an Ed25519 key.
pub fn dkim_key() -> String {
    let seed = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()];
    STANDARD.encode(seed.concat())
}
