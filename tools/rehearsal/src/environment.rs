//! Environment of a container.

use std::collections::BTreeMap;

use anyhow::Context as _;

use crate::{
    images::Image,
    manifests::{Manifests, Pod, list, text, texts},
};

/// Variables of the image, config maps and the container. A later one may refer to earlier ones.
pub fn environment(
    pod: &Pod,
    manifests: &Manifests,
    image: &Image,
) -> anyhow::Result<BTreeMap<String, String>> {
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    let mut env: BTreeMap<String, String> = image.env.iter().copied().map(owned).collect();
    for source in list(&pod.container()["envFrom"]) {
        let map = manifests.data("ConfigMap", &source["configMapRef"]["name"])?;
        env.extend(texts(map).map(owned));
    }
    for variable in list(&pod.container()["env"]) {
        let source = &variable["valueFrom"];
        let secret = &source["secretKeyRef"];
        let value = if !secret.is_null() {
            manifests.data("Secret", &secret["name"])?[text(&secret["key"])].as_str()
        } else if source["fieldRef"]["fieldPath"] == "metadata.name" {
            Some(pod.name.as_str())
        } else {
            variable["value"].as_str()
        };
        let value = value.with_context(|| format!("{variable} has no source"))?;
        env.insert(text(&variable["name"]).to_owned(), expanded(value, &env));
    }
    Ok(env)
}

/// Replaces each `$(NAME)` by the variable's value.
fn expanded(text: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("$({name})"), value)
    })
}
