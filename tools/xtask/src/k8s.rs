//! `cargo xtask k8s`.

use std::{path::Path, process::Command};

use crate::{
    build,
    step::{program, root, run},
    tools::{self, Tool},
};

/// What its tests need.
pub const TOOLS: [Tool; 7] = [
    Tool::NatsServer,
    Tool::SitePackages,
    Tool::KubernetesCheckers,
    Tool::KubernetesModels,
    Tool::Clamd,
    Tool::PodSandbox,
    Tool::Root,
];

/// Checks the Kubernetes tree against itself, its policies and the binaries.
///
/// # Errors
///
/// Where a tool is missing, something does not compile, or the tree is not as its tests have it.
pub fn check() -> anyhow::Result<()> {
    tools::ensure_tools(&TOOLS)?;
    build::all()?;
    run(
        "Checking the Kubernetes tree",
        &mut tests(),
        "See k8s/README.md on what is checked.",
    )
}

/// Rehearses what befalls a cluster.
///
/// # Errors
///
/// Where a tool is missing, something does not compile, or the rehearsal does not go as it must.
pub fn rehearse(arguments: &[String]) -> anyhow::Result<()> {
    tools::ensure_tools(&TOOLS)?;
    build::all()?;
    run(
        "Rehearsing a cluster",
        program(root().join("target/debug/rehearsal"), &[]).args(arguments),
        "See docs/rehearsal.md on what each scene shows.",
    )
}

/// Writes docs/operations-flows.md anew.
///
/// # Errors
///
/// Where a tool is missing, or the manifests cannot be read.
pub fn write_flows() -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::KubernetesCheckers])?;
    let mut write = python(Path::new("k8s/tests/flows.py"));
    run("Writing the table of flows", &mut write, "See above.")
}

/// The tests in k8s/tests. They run the programs and the site of `build::all`.
pub fn tests() -> Command {
    let mut pytest = python(Path::new("-m"));
    pytest.args([
        "pytest",
        "--quiet",
        "--durations=10",
        "-p",
        "no:cacheprovider",
        "k8s/tests",
    ]);
    pytest
}

fn python(script: &Path) -> Command {
    let mut python = program(tools::kubernetes_python(), &[]);
    python.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
    python
}
