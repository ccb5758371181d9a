//! Keeps volumes as folders of this machine. Those of a stateful set outlive its pods, which keep their names.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
};

use anyhow::bail;
use serde_json::Value;

use crate::{
    cluster::FOLDER,
    manifests::{Manifests, Pod, list, text, texts},
};

/// Path on this machine, path in the container, and whether the mount is read-only.
pub type Mount = (PathBuf, String, bool);

/// # Errors
///
/// If a volume's kind or source is unknown, or a folder cannot be created.
pub fn mounts(pod: &Pod, manifests: &Manifests) -> anyhow::Result<Vec<Mount>> {
    let group = pod.spec["securityContext"]["fsGroup"].as_u64();
    let group = group.map(u32::try_from).transpose()?;
    let mut mounts = Vec::new();
    for mount in list(&pod.container()["volumeMounts"]) {
        let name = text(&mount["name"]);
        let volume = list(&pod.spec["volumes"]).find(|volume| volume["name"] == name);
        let folder = Path::new(FOLDER).join(&pod.name).join(name);
        fs::create_dir_all(&folder)?;
        set_access(&folder, 0o2775, group)?;
        // A stateful set's claim is no volume of the pod.
        let files = volume.map_or(Ok(Vec::new()), |volume| files(volume, manifests))?;
        let mode = volume.and_then(|volume| volume["secret"]["defaultMode"].as_u64());
        for (name, content) in &files {
            let file = folder.join(name);
            fs::write(&file, content)?;
            set_access(&file, mode.unwrap_or(0o644).try_into()?, group)?;
        }
        let is_read_only = mount["readOnly"] == true || !files.is_empty();
        mounts.push((folder, text(&mount["mountPath"]).to_owned(), is_read_only));
    }
    Ok(mounts)
}

/// Files that a volume begins with.
fn files<'a>(volume: &'a Value, manifests: &'a Manifests) -> anyhow::Result<Vec<(&'a str, &'a str)>> {
    let (projected, secret) = (&volume["projected"], &volume["secret"]);
    let mut files = Vec::new();
    if !projected.is_null() {
        for source in list(&projected["sources"]) {
            files.extend(texts(manifests.data("ConfigMap", &source["configMap"]["name"])?));
        }
    } else if !secret.is_null() {
        let data = manifests.data("Secret", &secret["secretName"])?;
        let items = list(&secret["items"]).map(|item| (text(&item["path"]), text(&data[text(&item["key"])])));
        files.extend(items);
        if secret["items"].is_null() {
            files.extend(texts(data));
        }
    } else if volume["emptyDir"].is_null() {
        bail!("a volume of an unknown kind: {volume}");
    }
    Ok(files)
}

/// Sets mode and group as `fsGroup` does.
fn set_access(path: &Path, mode: u32, group: Option<u32>) -> anyhow::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    Ok(chown(path, Some(0), group)?)
}
