//! What the manifests of our services say, for what is held against them without a cluster.

use std::fs;

use anyhow::Context;

use crate::root;

/// The values of all fields of this name in the deployment of a service, in their order.
///
/// # Errors
///
/// If there is no such deployment.
pub fn values(service: &str, field: &str) -> anyhow::Result<Vec<String>> {
    let manifest = format!("k8s/base/{service}/deployment.yaml");
    let text = fs::read_to_string(root().join(&manifest)).with_context(|| manifest)?;
    let values = text.lines().filter_map(|line| {
        let (name, value) = line.trim_start().split_once(':')?;
        (name == field).then(|| value.trim().to_owned())
    });
    Ok(values.collect())
}
