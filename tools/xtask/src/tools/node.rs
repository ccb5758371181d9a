//! The front ends' packages from npm.

use std::{fs, path::PathBuf};

use crate::step::{command_output, program, root, run_quietly};

use super::{fetch::Fetch, folder::folder, version::version};

const OLDEST_NODE: (u64, u64) = (20, 0);
const LOCK: &str = "package-lock.json";
/// What a folder of packages holds once they are all there: what was installed.
const INSTALLED: &str = ".installed";
const REACHABLE: &str = "Is the npm registry reachable?";
/// Of a package that is installed nothing runs: `.npmrc` says so too, but not for folders below `target`.
const OPTIONS: [&str; 4] = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/// What builds and runs the site: what package files call `dependencies`. Where those for tests were there, they stay.
pub fn site_packages() -> Fetch {
    if installed().is_some_and(|stamp| stamp.starts_with(Selection::All.flag())) {
        return all_packages();
    }
    packages("npm packages of the site", 380, Selection::Site)
}

pub fn all_packages() -> Fetch {
    packages("npm packages, those for tests too", 900, Selection::All)
}

/// Packages apart from the others, because few need them.
#[derive(Clone, Copy)]
pub struct Apart {
    name: &'static str,
    what: &'static str,
    /// The folder that has their lock in one of this name.
    locks: &'static str,
    megabytes: u64,
}

/// What shows traces.
pub const TRACE_VIEWER: Apart = Apart {
    name: "trace-viewer",
    what: "viewer of traces",
    locks: "tools/pins",
    megabytes: 34,
};
/// What judges headers.
pub const OBSERVATORY: Apart = Apart {
    name: "observatory",
    what: "observatory of headers",
    locks: "tools/pins",
    megabytes: 90,
};
/// What objects of kinds that others define are held against.
pub const KUBERNETES_MODELS: Apart = Apart {
    name: "kubernetes-models",
    what: "types of other makers' Kubernetes kinds",
    locks: "tools/pins",
    megabytes: 89,
};
/// What the benches compare with in Node.
pub const FASTIFY: Apart = Apart {
    name: "fastify",
    what: "peer in Node",
    locks: "tools/bench/peers",
    megabytes: 17,
};

impl Apart {
    pub fn fetch(self) -> Fetch {
        Fetch {
            what: self.what,
            megabytes: self.megabytes,
            into: self.folder(),
            is_there: self.is_installed(),
            run: Box::new(move || self.install()),
        }
    }

    fn is_installed(self) -> bool {
        let wanted = fs::read(self.lock()).ok();
        wanted.is_some() && fs::read(self.folder().join(INSTALLED)).ok() == wanted
    }

    fn install(self) -> anyhow::Result<()> {
        let (folder, lock) = (self.folder(), self.lock());
        fs::create_dir_all(&folder)?;
        fs::copy(&lock, folder.join(LOCK))?;
        fs::copy(lock.with_file_name("package.json"), folder.join("package.json"))?;
        let mut install = program("npm", &["ci"]);
        run_quietly(
            &format!("Installing the {}", self.what),
            install.args(OPTIONS).current_dir(&folder),
            REACHABLE,
        )?;
        // Written last, as that of the others is.
        Ok(fs::copy(lock, folder.join(INSTALLED)).map(drop)?)
    }

    fn folder(self) -> PathBuf {
        folder().join(self.name)
    }

    fn lock(self) -> PathBuf {
        root().join(self.locks).join(self.name).join(LOCK)
    }
}

/// Makes sure that Node is there.
///
/// # Errors
///
/// Where it is missing or too old.
pub fn require() -> anyhow::Result<()> {
    let node = command_output("node", &["--version"]).and_then(|text| version(&text));
    anyhow::ensure!(
        node >= Some(OLDEST_NODE),
        "Node 20 or newer is needed, with npm; install it from your distribution or nodejs.org."
    );
    Ok(())
}

#[derive(Clone, Copy)]
enum Selection {
    Site,
    All,
}

impl Selection {
    fn flag(self) -> &'static str {
        match self {
            Self::Site => "--omit=dev",
            Self::All => "--include=dev",
        }
    }
}

fn packages(what: &'static str, megabytes: u64, which: Selection) -> Fetch {
    Fetch {
        what,
        megabytes,
        into: root().join("node_modules"),
        is_there: has(which),
        run: Box::new(move || install(which)),
    }
}

fn install(which: Selection) -> anyhow::Result<()> {
    // What is there may be in use by a running site; `ci` would remove it first.
    let how: &[&str] = match which {
        Selection::All if has(Selection::Site) => &["install", "--no-save"],
        _ => &["ci"],
    };
    let mut install = program("npm", how);
    install.arg(which.flag()).args(OPTIONS);
    run_quietly("Installing the front-end packages", &mut install, REACHABLE)?;
    // Written last, so that an installation that was cut short is made anew.
    Ok(fs::write(stamp(), wanted(which)?)?)
}

fn has(which: Selection) -> bool {
    let wanted = wanted(which).ok();
    wanted.is_some() && installed() == wanted
}

fn installed() -> Option<String> {
    fs::read_to_string(stamp()).ok()
}

/// What the stamp says of an installation that is up to date.
fn wanted(which: Selection) -> anyhow::Result<String> {
    let lock = fs::read_to_string(root().join(LOCK))?;
    Ok(format!("{}\n{lock}", which.flag()))
}

fn stamp() -> PathBuf {
    root().join("node_modules").join(INSTALLED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that goes with the test.
    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn a_package_runs_nothing_when_it_is_installed() -> anyhow::Result<()> {
        let folder = Folder(std::env::temp_dir().join(format!("install-script-{}", std::process::id())));
        let package = folder.0.join("package");
        fs::create_dir_all(&package)?;
        fs::write(
            package.join("package.json"),
            r#"{"name": "package", "version": "1.0.0", "scripts": {"preinstall": "touch ran", "install": "touch ran"}}"#,
        )?;
        fs::write(
            folder.0.join("package.json"),
            r#"{"dependencies": {"package": "file:package"}}"#,
        )?;
        let mut install = program("npm", &["install", "--offline"]);
        run_quietly(
            "Installing a package with a script",
            install.args(OPTIONS).current_dir(&folder.0),
            "npm is needed.",
        )?;
        assert!(folder.0.join("node_modules/package/package.json").exists());
        assert!(!package.join("ran").exists());
        Ok(())
    }
}
