//! A container's command and environment, as its manifest, its image and maps and secrets say.

use std::collections::BTreeMap;

use anyhow::Context as _;
use k8s_openapi::{
    api::core::v1::{Container, EnvVar, Pod},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use crate::{images::Image, manifests::Manifests};

/// Command and arguments: those of the manifest, in the place of the image's.
pub fn words(container: &Container, image: &Image, env: &BTreeMap<String, String>) -> Vec<String> {
    let command = container.command.as_ref().filter(|command| !command.is_empty());
    let command = command.unwrap_or(&image.entry_point).iter();
    command
        .chain(container.args.iter().flatten())
        .map(|word| expanded(word, env))
        .collect()
}

/// The environment: the image's, that of maps, and the container's own, each of which may name those before.
///
/// # Errors
///
/// If a value comes from nowhere that is known here, or from a map or a secret that is not there.
pub fn environment(
    container: &Container,
    pod: &Pod,
    manifests: &Manifests,
    image: &Image,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut env: BTreeMap<String, String> = image.env.iter().cloned().collect();
    for source in container.env_from.iter().flatten() {
        let name = source
            .config_map_ref
            .as_ref()
            .map(|map| map.name.as_str())
            .context("an envFrom that is no map")?;
        let map = manifests
            .config_maps
            .get(name)
            .with_context(|| format!("there is no map {name}"))?;
        env.extend(
            map.data
                .iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
    }
    for variable in container.env.iter().flatten() {
        let value = value_of(variable, pod, manifests, &env)?;
        env.insert(variable.name.clone(), value);
    }
    Ok(env)
}

fn value_of(
    variable: &EnvVar,
    pod: &Pod,
    manifests: &Manifests,
    env: &BTreeMap<String, String>,
) -> anyhow::Result<String> {
    let Some(source) = &variable.value_from else {
        return Ok(expanded(variable.value.as_deref().unwrap_or_default(), env));
    };
    if let Some(field) = &source.field_ref {
        let value = field_of(&pod.metadata, &field.field_path);
        return value.with_context(|| {
            format!(
                "{} names {}, which is not known here",
                variable.name, field.field_path
            )
        });
    }
    let key = source
        .secret_key_ref
        .as_ref()
        .with_context(|| format!("{} comes from nowhere known", variable.name))?;
    let secret = manifests.secret(&key.name)?;
    let value = secret
        .get(&key.key)
        .with_context(|| format!("secret {} has no {}", key.name, key.key))?;
    Ok(String::from_utf8(value.0.clone())?)
}

/// What a pod has under this path.
fn field_of(metadata: &ObjectMeta, path: &str) -> Option<String> {
    match path {
        "metadata.name" => metadata.name.clone(),
        "metadata.namespace" => metadata.namespace.clone(),
        _ => {
            let label = path.strip_prefix("metadata.labels['")?.strip_suffix("']")?;
            metadata.labels.as_ref()?.get(label).cloned()
        }
    }
}

/// `$(NAME)` is the variable of that name, where there is one.
fn expanded(text: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("$({name})"), value)
    })
}
