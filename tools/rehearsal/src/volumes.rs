//! A pod's volumes as folders of this machine: what maps and secrets hold is written there, and what is claimed outlives the pod.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{Container, KeyToPath, Pod, PodSpec, Volume};

use crate::manifests::{Manifests, name_of};

/// What lies where in the container, and whether it is read only.
///
/// # Errors
///
/// If a volume is of a kind that is not known here, what it is made of is not there, or a folder cannot be made.
pub fn mounts(
    spec: &PodSpec,
    container: &Container,
    manifests: &Manifests,
    node: &Path,
    pod: &str,
) -> anyhow::Result<Vec<(PathBuf, String, bool)>> {
    let folder = node.join(pod);
    let group = group_of(spec)?;
    let mut mounts = Vec::new();
    for mount in container.volume_mounts.iter().flatten() {
        let volume = spec
            .volumes
            .iter()
            .flatten()
            .find(|volume| volume.name == mount.name);
        let mut from = match volume {
            Some(volume) => volume_files(volume, manifests, node, &folder, group)?,
            // A claim of a stateful set: it outlives its pod.
            None => directory(&node.join("volumes").join(format!("{}-{pod}", mount.name)), group)?,
        };
        if let Some(path) = &mount.sub_path {
            from.push(path);
        }
        let is_kept = volume
            .is_none_or(|volume| volume.empty_dir.is_some() || volume.persistent_volume_claim.is_some());
        mounts.push((
            from,
            mount.mount_path.clone(),
            mount.read_only == Some(true) || !is_kept,
        ));
    }
    Ok(mounts)
}

/// Writes anew what the secrets of a pod hold now, as a kubelet does while it runs.
///
/// # Errors
///
/// If a secret is not there, or cannot be written.
pub fn write_secrets(node: &Path, manifests: &Manifests, pod: &Pod) -> anyhow::Result<()> {
    let Some(spec) = &pod.spec else {
        return Ok(());
    };
    let group = group_of(spec)?;
    let folder = node.join(name_of(&pod.metadata));
    let volumes = spec.volumes.iter().flatten();
    for volume in volumes.filter(|volume| volume.secret.is_some()) {
        volume_files(volume, manifests, node, &folder, group)?;
    }
    Ok(())
}

/// The group that files of a pod's volumes belong to.
fn group_of(spec: &PodSpec) -> anyhow::Result<Option<u32>> {
    let group = spec.security_context.as_ref().and_then(|pod| pod.fs_group);
    Ok(group.map(u32::try_from).transpose()?)
}

fn volume_files(
    volume: &Volume,
    manifests: &Manifests,
    node: &Path,
    folder: &Path,
    group: Option<u32>,
) -> anyhow::Result<PathBuf> {
    if let Some(claim) = &volume.persistent_volume_claim {
        return directory(&node.join("volumes").join(&claim.claim_name), group);
    }
    let at = directory(&folder.join(&volume.name), group)?;
    let secret = volume.secret.as_ref();
    let mode = secret
        .map_or(Some(0o644), |secret| secret.default_mode)
        .unwrap_or(0o644);
    for (name, content) in contents(volume, manifests)? {
        let file = at.join(name);
        fs::write(&file, content)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(mode.try_into()?))?;
        chown(&file, Some(0), group)?;
    }
    Ok(at)
}

/// The files that a volume begins with.
fn contents(volume: &Volume, manifests: &Manifests) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let of_map = |name: &str, items: Option<&Vec<KeyToPath>>| {
        let map = manifests
            .config_maps
            .get(name)
            .with_context(|| format!("there is no map {name}"))?;
        let data = map.data.iter().flatten();
        let data = data.map(|(key, value)| (key.clone(), value.clone().into_bytes()));
        anyhow::Ok(chosen(data, items))
    };
    if let Some(map) = &volume.config_map {
        return of_map(&map.name, map.items.as_ref());
    }
    if let Some(projected) = &volume.projected {
        let maps = projected.sources.iter().flatten().map(|source| {
            let map = source.config_map.as_ref();
            let map = map.context("a projected volume of something else than maps")?;
            of_map(&map.name, map.items.as_ref())
        });
        return Ok(maps.collect::<anyhow::Result<Vec<_>>>()?.concat());
    }
    if let Some(secret) = &volume.secret {
        let found = manifests.secret(secret.secret_name.as_deref().unwrap_or_default())?;
        let data = found.into_iter().map(|(key, value)| (key, value.0));
        return Ok(chosen(data, secret.items.as_ref()));
    }
    anyhow::ensure!(
        volume.empty_dir.is_some(),
        "volume {} is of a kind that is not known here",
        volume.name
    );
    Ok(Vec::new())
}

/// The values that are named, under their paths; all where none is.
fn chosen(
    data: impl Iterator<Item = (String, Vec<u8>)>,
    items: Option<&Vec<KeyToPath>>,
) -> Vec<(String, Vec<u8>)> {
    data.filter_map(|(key, value)| match items {
        None => Some((key, value)),
        Some(items) => {
            let item = items.iter().find(|item| item.key == key)?;
            Some((item.path.clone(), value))
        }
    })
    .collect()
}

/// A folder that the pod's group may write.
fn directory(path: &Path, group: Option<u32>) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o2775))?;
    chown(path, Some(0), group)?;
    Ok(path.to_owned())
}
