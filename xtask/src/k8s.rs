//! `cargo xtask k8s`.

use std::{path::Path, process::Command};

use crate::{
    build, setup,
    step::{program, run},
};

/// Checks the Kubernetes tree against itself, its policies and the binaries.
pub fn check() -> anyhow::Result<()> {
    setup::nats_server()?;
    setup::k8s()?;
    setup::clamd()?;
    build::services()?;
    run(
        "Checking the Kubernetes tree",
        &mut tests(),
        "See k8s/README.md on what is checked.",
    )
}

/// Writes docs/operations-flows.md anew.
pub fn write_flows() -> anyhow::Result<()> {
    setup::k8s()?;
    let mut write = python(Path::new("k8s/tests/flows.py"));
    run("Writing the table of flows", &mut write, "See above.")
}

/// The tests in k8s/tests. They ask the binaries of `build::services`.
pub fn tests() -> Command {
    let mut pytest = python(Path::new("-m"));
    pytest.args(["pytest", "--quiet", "-p", "no:cacheprovider", "k8s/tests"]);
    pytest
}

fn python(script: &Path) -> Command {
    let mut python = program(setup::tools().join("k8s/bin/python"), &[]);
    python.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
    python
}
