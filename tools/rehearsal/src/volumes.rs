//! Keeps volumes as folders of this machine. Volumes of claims outlive their pod.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
};

use anyhow::bail;
use serde_json::Value;

use crate::manifests::{Manifests, Pod, list, text, texts};

/// Path on this machine, path in the container, and whether the mount is read-only.
pub type Mount = (PathBuf, String, bool);

/// # Errors
///
/// If a volume's kind or source is unknown, or a folder cannot be created.
pub fn mounts(pod: &Pod, manifests: &Manifests, node: &Path) -> anyhow::Result<Vec<Mount>> {
    let group = pod.spec["securityContext"]["fsGroup"].as_u64();
    let group = group.map(u32::try_from).transpose()?;
    let mut mounts = Vec::new();
    for mount in list(&pod.container()["volumeMounts"]) {
        let name = text(&mount["name"]);
        let volume = list(&pod.spec["volumes"]).find(|volume| volume["name"] == name);
        let folder = match volume {
            Some(_) => node.join(&pod.name).join(name),
            // Volume claim of a stateful set.
            None => node.join("volumes").join(format!("{name}-{}", pod.name)),
        };
        fs::create_dir_all(&folder)?;
        set_access(&folder, 0o2775, group)?;
        let files = volume.map(|volume| files(volume, manifests));
        let files = files.transpose()?.flatten();
        let mode = volume.and_then(|volume| volume["secret"]["defaultMode"].as_u64());
        for (name, content) in files.iter().flatten() {
            let file = folder.join(name);
            fs::write(&file, content)?;
            set_access(&file, mode.unwrap_or(0o644).try_into()?, group)?;
        }
        let is_read_only = mount["readOnly"] == true || files.is_some();
        let from = match mount["subPath"].as_str() {
            Some(path) => folder.join(path),
            None => folder,
        };
        mounts.push((from, text(&mount["mountPath"]).to_owned(), is_read_only));
    }
    Ok(mounts)
}

/// Files of a volume; `None` if it is writable.
fn files(volume: &Value, manifests: &Manifests) -> anyhow::Result<Option<Vec<(String, String)>>> {
    if !volume["emptyDir"].is_null() {
        return Ok(None);
    }
    let of_map = |map: &Value| {
        let data = manifests.config_map(text(&map["name"]))?;
        anyhow::Ok(chosen(texts(data), &map["items"]))
    };
    if !volume["configMap"].is_null() {
        return Ok(Some(of_map(&volume["configMap"])?));
    }
    if !volume["projected"].is_null() {
        let maps = list(&volume["projected"]["sources"]).map(|source| of_map(&source["configMap"]));
        return Ok(Some(maps.collect::<anyhow::Result<Vec<_>>>()?.concat()));
    }
    let secret = &volume["secret"];
    if secret.is_null() {
        bail!("a volume of an unknown kind: {volume}");
    }
    let data = manifests.secret(text(&secret["secretName"]))?.iter();
    let data = data.map(|(key, value)| (key.as_str(), value.as_str()));
    Ok(Some(chosen(data, &secret["items"])))
}

/// Values by path: those that `items` selects, or all.
fn chosen<'a>(data: impl Iterator<Item = (&'a str, &'a str)>, items: &Value) -> Vec<(String, String)> {
    data.filter_map(|(key, value)| {
        let path = if items.is_null() {
            key
        } else {
            text(&list(items).find(|item| item["key"] == key)?["path"])
        };
        Some((path.to_owned(), value.to_owned()))
    })
    .collect()
}

/// Sets mode and group as `fsGroup` does.
fn set_access(path: &Path, mode: u32, group: Option<u32>) -> anyhow::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    Ok(chown(path, Some(0), group)?)
}
