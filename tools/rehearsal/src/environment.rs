//! Command and environment of a container.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::Value;

use crate::{
    images::Image,
    manifests::{Manifests, Pod, list, text, texts},
};

/// The only supported label as source of a variable.
pub const JOB_NAME: &str = "batch.kubernetes.io/job-name";

pub fn words(container: &Value, image: &Image, env: &BTreeMap<String, String>) -> Vec<String> {
    let mut command: Vec<&str> = list(&container["command"]).map(text).collect();
    if command.is_empty() {
        command.push(&image.entry_point);
    }
    command.extend(list(&container["args"]).map(text));
    command.into_iter().map(|word| expanded(word, env)).collect()
}

/// Variables of the image, config maps and the container. A later one may refer to earlier ones.
///
/// # Errors
///
/// If a value's source is unknown or missing.
pub fn environment(
    pod: &Pod,
    manifests: &Manifests,
    image: &Image,
) -> anyhow::Result<BTreeMap<String, String>> {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let mut env: BTreeMap<String, String> = image.env.iter().copied().map(owned).collect();
    for source in list(&pod.container()["envFrom"]) {
        let name = source["configMapRef"]["name"].as_str();
        let map = manifests.config_map(name.context("an envFrom without a config map")?)?;
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
        .with_context(|| format!("{variable} has no source"))?
        .to_owned())
}

/// Replaces each `$(NAME)` by the variable's value.
fn expanded(text: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("$({name})"), value)
    })
}
