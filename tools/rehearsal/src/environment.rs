//! A container's command and environment, as its manifest, its image, maps and secrets say.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::Value;

use crate::{
    images::Image,
    manifests::{Manifests, Pod, list, text, texts},
};

/// The label in which a job's pods carry its name, the only one that a variable may name.
pub const JOB_NAME: &str = "batch.kubernetes.io/job-name";

/// Command and arguments: those of the manifest, or the image's command.
pub fn words(container: &Value, image: &Image, env: &BTreeMap<String, String>) -> Vec<String> {
    let mut command: Vec<&str> = list(&container["command"]).map(text).collect();
    if command.is_empty() {
        command.push(&image.entry_point);
    }
    command.extend(list(&container["args"]).map(text));
    command.into_iter().map(|word| expanded(word, env)).collect()
}

/// The environment: the image's, that of maps, and the container's own, each of which may name those before.
///
/// # Errors
///
/// If a value comes from an unknown source, or from a map or a secret that is missing.
pub fn environment(
    pod: &Pod,
    manifests: &Manifests,
    image: &Image,
) -> anyhow::Result<BTreeMap<String, String>> {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let mut env: BTreeMap<String, String> = image.env.into_iter().map(owned).collect();
    for source in list(&pod.container()["envFrom"]) {
        let name = source["configMapRef"]["name"].as_str();
        let map = manifests.config_map(name.context("an envFrom that is no map")?)?;
        env.extend(texts(map).map(owned));
    }
    for variable in list(&pod.container()["env"]) {
        let value = value_of(variable, pod, manifests, &env)?;
        env.insert(text(&variable["name"]).to_owned(), value);
    }
    Ok(env)
}

fn value_of(
    variable: &Value,
    pod: &Pod,
    manifests: &Manifests,
    env: &BTreeMap<String, String>,
) -> anyhow::Result<String> {
    let source = &variable["valueFrom"];
    if source.is_null() {
        return Ok(expanded(text(&variable["value"]), env));
    }
    let value = match source["fieldRef"]["fieldPath"].as_str() {
        Some("metadata.name") => Some(pod.name.as_str()),
        Some("metadata.namespace") => Some(pod.namespace.as_str()),
        Some(_) => pod.labels[JOB_NAME].as_str(),
        None => {
            let reference = &source["secretKeyRef"];
            let secret = manifests.secret(text(&reference["name"]))?;
            secret.get(text(&reference["key"])).map(String::as_str)
        }
    };
    Ok(value
        .with_context(|| format!("{variable} comes from nowhere"))?
        .to_owned())
}

/// `$(NAME)` is the variable of that name, where there is one.
fn expanded(text: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("$({name})"), value)
    })
}
