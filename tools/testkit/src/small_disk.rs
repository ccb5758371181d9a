//! A small disk that can be filled: a tmpfs on a folder of its own.

use std::{path::Path, process::Command};

use tempfile::TempDir;

const MEGABYTE: usize = 1_000_000;

/// A disk, empty at first. Dropping it unmounts it, even while files are open.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts one of this size, where everybody may write.
    ///
    /// # Errors
    ///
    /// If `sudo` is needed and asks for a password.
    pub fn mount(megabytes: usize) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let options = format!("size={},mode=1777", megabytes * MEGABYTE);
        as_root(&["mount", "-t", "tmpfs", "-o", &options, "tmpfs"], folder.path())?;
        Ok(Self { folder })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that ends later must not leave it mounted.
        if let Err(error) = as_root(&["umount", "--lazy"], self.path()) {
            eprintln!("{error:#}");
        }
    }
}

/// Runs a command on a folder, with `sudo` unless this process is root.
fn as_root(command: &[&str], folder: &Path) -> anyhow::Result<()> {
    let sudo: &[&str] = match nix::unistd::geteuid().is_root() {
        true => &[],
        false => &["sudo", "--non-interactive"],
    };
    let words = [sudo, command].concat();
    let output = Command::new(words[0]).args(&words[1..]).arg(folder).output()?;
    anyhow::ensure!(
        output.status.success(),
        "A small disk is a tmpfs, which only root can mount; run sudo --validate first. {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}
