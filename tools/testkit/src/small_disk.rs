//! A small disk that can be filled: a tmpfs on a folder of its own.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::Context;
use tempfile::TempDir;

const MEGABYTE: usize = 1_000_000;

/// A disk of its own, empty at first. Dropping it unmounts it, whoever still has files there.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts one of this size, where anybody may write.
    ///
    /// # Errors
    ///
    /// Where the system lets only root mount, and `sudo` asks for a password.
    pub fn mount(megabytes: usize) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let options = format!("size={},mode=1777", megabytes * MEGABYTE);
        as_root(
            Command::new("mount")
                .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
                .arg(folder.path()),
        )?;
        Ok(Self { folder })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Fills it to its last byte but so many.
    pub fn fill(&self, bytes_left: u64) -> anyhow::Result<()> {
        let mut filler = File::options().create(true).append(true).open(self.filler())?;
        let zeros = vec![0; MEGABYTE];
        let full = loop {
            if let Err(error) = filler.write_all(&zeros) {
                break error;
            }
        };
        anyhow::ensure!(full.kind() == io::ErrorKind::StorageFull, "{full}");
        let length = filler.metadata()?.len().saturating_sub(bytes_left);
        Ok(filler.set_len(length)?)
    }

    /// Gives back what [`Self::fill`] took.
    pub fn free(&self) -> anyhow::Result<()> {
        match fs::remove_file(self.filler()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn filler(&self) -> PathBuf {
        self.path().join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that ends later must not leave it mounted.
        let unmounted = as_root(Command::new("umount").arg("--lazy").arg(self.path()));
        if let Err(error) = unmounted {
            eprintln!("{error:#}");
        }
    }
}

/// Runs it, by `sudo` where that is needed.
fn as_root(command: &Command) -> anyhow::Result<()> {
    let program = command.get_program();
    let plain = Command::new(program).args(command.get_args()).output();
    if is_success(&plain) {
        return Ok(());
    }
    let mut sudo = Command::new("sudo");
    let by_sudo = sudo
        .arg("--non-interactive")
        .arg(program)
        .args(command.get_args())
        .output();
    if is_success(&by_sudo) {
        return Ok(());
    }
    let said = plain.with_context(|| format!("{} cannot be run", program.display()))?;
    anyhow::bail!(
        "A small disk is a tmpfs, which only root can mount; run sudo --validate first. {} said: {}",
        program.display(),
        String::from_utf8_lossy(&said.stderr).trim()
    )
}

fn is_success(output: &io::Result<Output>) -> bool {
    output.as_ref().is_ok_and(|output| output.status.success())
}
