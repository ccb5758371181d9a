//! Files of the site's folder.

use std::{fs, path::Path};

use anyhow::Context;

/// Paths of all files on the site, such as `/assets/main.js`.
///
/// # Errors
///
/// If a folder cannot be read.
pub fn files(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    Ok(files)
}

fn collect(folder: &Path, path: &str, files: &mut Vec<String>) -> anyhow::Result<()> {
    let wrong = || format!("{} cannot be read", folder.display());
    for entry in fs::read_dir(folder).with_context(wrong)? {
        let entry = entry.with_context(wrong)?;
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
