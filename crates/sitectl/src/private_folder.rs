//! Folders and files that hold people's data: for their owner, and for nobody else.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

use anyhow::{Context as _, ensure};

/// Fails where something lies in the folder already.
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
pub fn create(folder: &Path) -> anyhow::Result<()> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let closed = created.and_then(|()| fs::set_permissions(folder, Permissions::from_mode(0o700)));
    closed.with_context(|| format!("the folder {} cannot be made", folder.display()))
}

/// Makes a file, which must be new.
pub fn create_file(path: &Path) -> anyhow::Result<File> {
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    file.with_context(|| cannot_be_written(path))
}

/// Makes a file with this content.
pub fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let written = create_file(path)?.write_all(content);
    written.with_context(|| cannot_be_written(path))
}

/// What is said of a file that the disk does not take.
pub fn cannot_be_written(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}
