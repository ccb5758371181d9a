//! Programs out of Debian's packages that are not installed, because these would start services.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::step::{empty_folder, program, run_quietly};

use super::{fetch::Fetch, folder::folder};

/// The file of [`faketime`], the kind for programs with threads.
const FAKETIME: &str = "libfaketimeMT.so.1";

pub fn clamd() -> Fetch {
    of_package("clamd", "clamav-daemon", "usr/sbin/clamd", 1)
}

pub fn promtool() -> Fetch {
    of_package("promtool", "prometheus", "usr/bin/promtool", 50)
}

pub fn nginx() -> Fetch {
    of_package("nginx", "nginx", "usr/sbin/nginx", 2)
}

/// The library that gives a program another time of day.
pub fn faketime() -> Fetch {
    // Debian names the folder by the kind of processor, too.
    let path = format!("usr/lib/{}-linux-gnu/faketime/{FAKETIME}", env::consts::ARCH);
    of_package(FAKETIME, "libfaketime", path, 1)
}

fn of_package(name: &'static str, package: &'static str, path: impl Into<String>, megabytes: u64) -> Fetch {
    let path = path.into();
    Fetch {
        what: name,
        megabytes,
        into: folder().join(format!("{name}-package")),
        is_there: folder().join(name).exists(),
        run: Box::new(move || unpack(name, package, &path)),
    }
}

fn unpack(name: &str, package: &str, path: &str) -> anyhow::Result<()> {
    let folder = folder().join(format!("{name}-package"));
    empty_folder(&folder)?;
    let mut download = program("apt-get", &["download", "--quiet", "--quiet", package]);
    run_quietly(
        &format!("Downloading Debian's package {package}"),
        download.current_dir(&folder),
        "Fetch the list of packages first: sudo apt-get update",
    )?;
    let mut extract = program("dpkg-deb", &["--extract"]);
    extract.arg(only_file(&folder)?).arg(&folder);
    run_quietly(&format!("Unpacking {package}"), &mut extract, "Is the disk full?")?;
    fs::rename(folder.join(path), super::folder().join(name))?;
    Ok(fs::remove_dir_all(folder)?)
}

/// The file that a folder holds, alone.
///
/// # Errors
///
/// Where the folder holds none, or cannot be read.
pub fn only_file(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?;
    Ok(entries.next().context("nothing was downloaded")??.path())
}
