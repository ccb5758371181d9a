//! Folders and files that hold people's data: for their owner, and for nobody else.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use anyhow::{Context as _, ensure};

/// Makes sure that a folder is new or empty.
///
/// # Errors
///
/// If something lies in it already, or it is no folder that we may read.
pub fn ensure_new_or_empty(folder: &Path) -> anyhow::Result<()> {
    let named = folder.display();
    match fs::read_dir(folder) {
        Ok(mut entries) => ensure!(entries.next().is_none(), "The folder {named} is not empty."),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => anyhow::bail!("{named} cannot be used as a folder: {error}."),
    }
    Ok(())
}

/// Makes the folder, and closes one that is there to others.
///
/// # Errors
///
/// If it cannot be made, or is not ours to close.
pub fn create(folder: &Path) -> anyhow::Result<()> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let closed = created.and_then(|()| fs::set_permissions(folder, Permissions::from_mode(0o700)));
    closed.with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// Makes a new file.
///
/// # Errors
///
/// If there is one already, or it cannot be made.
pub fn create_file(path: &Path) -> anyhow::Result<File> {
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.with_context(|| cannot_be_written(path))
}

/// Makes a new file with this content.
///
/// # Errors
///
/// If there is one already, or the disk does not take it.
pub fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let written = create_file(path)?.write_all(content);
    written.with_context(|| cannot_be_written(path))
}

/// What is said of a file that the disk does not take.
pub fn cannot_be_written(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}
