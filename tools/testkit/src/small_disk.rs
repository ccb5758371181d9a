//! Small tmpfs that a test can fill.

use std::{path::Path, process::Command};

use tempfile::TempDir;

const MEGABYTE: usize = 1_000_000;

/// Small disk. Dropping it unmounts it, even with open files.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts a disk for every user.
    ///
    /// # Errors
    ///
    /// If `sudo` asks for a password.
    pub fn mount(megabytes: usize) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let options = format!("size={},mode=1777", megabytes * MEGABYTE);
        as_root(&["mount", "-t", "tmpfs", "-o", &options, "tmpfs"], folder.path())?;
        Ok(Self { folder })
    }

    /// Mount point.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A process may still hold files open.
        if let Err(error) = as_root(&["umount", "--lazy"], self.path()) {
            eprintln!("{error:#}");
        }
    }
}

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
