//! `cargo xtask kind`.

use crate::step::{command_output, program, run};

/// What the script runs, with what shows that it is there, and where it comes from.
const PROGRAMS: [(&str, &[&str], &str); 5] = [
    ("kind", &["version"], "https://kind.sigs.k8s.io"),
    (
        "docker",
        &["info"],
        "https://docs.docker.com/engine/install, and started for this user",
    ),
    (
        "docker",
        &["buildx", "version"],
        "https://docs.docker.com/build/install-buildx",
    ),
    (
        "kubectl",
        &["version", "--client"],
        "https://kubernetes.io/docs/tasks/tools",
    ),
    ("curl", &["--version"], "your system's packages"),
];

/// Starts the overlay `local` on a cluster of its own, sends forms, and deletes the cluster.
///
/// # Errors
///
/// Where a program is missing, or the demo does not take every form.
pub fn kind() -> anyhow::Result<()> {
    for (name, arguments, from) in PROGRAMS {
        anyhow::ensure!(
            command_output(name, arguments).is_some(),
            "`{name} {}` does not work here. It comes from {from}.",
            arguments.join(" ")
        );
    }
    run(
        "A local demo on kind",
        &mut program("bash", &["k8s/kind.sh"]),
        "What the cluster had to say stands above; with KEEP=1 it stays, to be looked at.",
    )
}
