//! Objects of the rendered overlay.

use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

/// A company's overlay of the profile `production`.
const OVERLAY: &str = "k8s/examples/overlay-production";
const KUBECTL: &str = "target/tools/k8s/bin/kubectl";

pub struct Manifests {
    pub objects: Vec<Value>,
}

impl Manifests {
    pub fn render() -> anyhow::Result<Self> {
        let root = testkit::root();
        let rendered = Command::new(root.join(KUBECTL))
            .arg("kustomize")
            .arg(root.join(OVERLAY))
            .output()
            .context("kubectl is missing; cargo xtask rehearse fetches it")?;
        let error = String::from_utf8_lossy(&rendered.stderr);
        anyhow::ensure!(rendered.status.success(), "kubectl kustomize: {error}");
        let objects = serde_saphyr::from_multiple(str::from_utf8(&rendered.stdout)?)?;
        Ok(Self { objects })
    }

    pub fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |object| object["kind"] == kind)
    }

    /// Entries of a ConfigMap or Secret.
    pub fn data(&self, kind: &str, name: &Value) -> anyhow::Result<&Value> {
        let mut objects = self.of_kind(kind);
        let found = objects.find(|object| object["metadata"]["name"] == *name);
        Ok(&found.with_context(|| format!("there is no {kind} {name}"))?["data"])
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

#[derive(Clone, Default)]
pub struct Pod {
    pub name: String,
    pub namespace: String,
    pub labels: Value,
    pub spec: Value,
}

impl Pod {
    /// Pod of a workload or job, with its name.
    pub fn of(object: &Value) -> Self {
        let spec = if object["kind"] == "CronJob" {
            &object["spec"]["jobTemplate"]["spec"]
        } else {
            &object["spec"]
        };
        Self {
            name: name_of(object).to_owned(),
            namespace: text(&object["metadata"]["namespace"]).to_owned(),
            labels: spec["template"]["metadata"]["labels"].clone(),
            spec: spec["template"]["spec"].clone(),
        }
    }

    pub fn container(&self) -> &Value {
        &self.spec["containers"][0]
    }

    /// Container port by name or number.
    pub fn port(&self, port: &Value) -> Option<u16> {
        let mut ports = list(&self.container()["ports"]);
        let named = ports.find(|named| named["name"] == *port);
        let number = named.map_or(port, |named| &named["containerPort"]);
        number.as_u64()?.try_into().ok()
    }
}
