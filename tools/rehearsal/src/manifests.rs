//! Objects of the rendered overlay.

use std::{collections::BTreeMap, path::Path, process::Command};

use anyhow::Context as _;
use serde_json::Value;

/// A company's overlay of production. The module `secrets` makes its secrets up.
const OVERLAY: &str = "k8s/tests/external-secrets";
const KUBECTL: &str = "target/tools/k8s/bin/kubectl";

pub type SecretData = BTreeMap<String, String>;

/// All objects of the overlay, and the secrets that controllers would create.
pub struct Manifests {
    objects: Vec<Value>,
    pub secrets: BTreeMap<String, SecretData>,
}

impl Manifests {
    pub fn render(root: &Path) -> anyhow::Result<Self> {
        let rendered = Command::new(root.join(KUBECTL))
            .arg("kustomize")
            .arg(root.join(OVERLAY))
            .output()
            .context("kubectl is missing; cargo xtask rehearse fetches it")?;
        let error = String::from_utf8_lossy(&rendered.stderr);
        anyhow::ensure!(rendered.status.success(), "kubectl kustomize: {error}");
        Ok(Self {
            objects: serde_saphyr::from_multiple(str::from_utf8(&rendered.stdout)?)?,
            secrets: BTreeMap::new(),
        })
    }

    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    pub fn config_map(&self, name: &str) -> anyhow::Result<&Value> {
        let mut maps = self.of_kind("ConfigMap");
        let map = maps.find(|map| name_of(map) == name);
        Ok(&map.with_context(|| format!("there is no map {name}"))?["data"])
    }

    pub fn secret(&self, name: &str) -> anyhow::Result<&SecretData> {
        let secret = self.secrets.get(name);
        secret.with_context(|| format!("there is no secret {name}"))
    }

    /// Value of a setting. All config maps that have the setting agree.
    pub fn setting(&self, name: &str) -> anyhow::Result<&str> {
        let mut values = self.of_kind("ConfigMap").map(|map| &map["data"][name]);
        let value = values.find_map(Value::as_str);
        value.with_context(|| format!("no map has {name}"))
    }
}

pub fn name_of(object: &Value) -> &str {
    text(&object["metadata"]["name"])
}

/// Items of a list; a missing list is empty.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Entries of an object; a missing object is empty.
pub fn texts(value: &Value) -> impl Iterator<Item = (&str, &str)> {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(key, value)| (key.as_str(), text(value)))
}

/// The text; a missing one is empty.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[derive(Clone)]
pub struct Pod {
    pub name: String,
    pub namespace: String,
    pub labels: Value,
    pub spec: Value,
}

impl Pod {
    pub fn new(template: &Value, name: &str, namespace: &str) -> Self {
        Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            labels: template["metadata"]["labels"].clone(),
            spec: template["spec"].clone(),
        }
    }

    pub fn container(&self) -> &Value {
        &self.spec["containers"][0]
    }

    pub fn port(&self, port: &Value) -> Option<u16> {
        let mut ports = list(&self.container()["ports"]);
        let number = match port.as_str() {
            Some(name) => &ports.find(|port| port["name"] == name)?["containerPort"],
            None => port,
        };
        number.as_u64()?.try_into().ok()
    }
}
