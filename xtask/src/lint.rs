//! `cargo xtask lint`.

use crate::{
    setup::tools,
    step::{cargo, npm, program, run},
};

const CARGO_DENY: &str = "0.20.2";

/// Everything that can be checked without running our code.
pub fn lint() -> anyhow::Result<()> {
    let format = "Run: cargo fmt";
    run(
        "Checking the format",
        &mut cargo(&["fmt", "--all", "--check"]),
        format,
    )?;
    let mut clippy = cargo(&[
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]);
    run("Linting Rust", &mut clippy, "Mend what stands above.")?;
    cargo_deny()?;
    run(
        "Linting the front ends and the contracts",
        &mut npm("lint", &[]),
        "Much of it mends: npm run format",
    )?;
    run(
        "Checking types",
        &mut npm("typecheck", &[]),
        "Mend what stands above.",
    )
}

fn cargo_deny() -> anyhow::Result<()> {
    let installed = tools().join("bin/cargo-deny");
    if !installed.exists() {
        let mut install = cargo(&[
            "install",
            "cargo-deny",
            "--quiet",
            "--locked",
            "--version",
            CARGO_DENY,
            "--root",
        ]);
        run(
            "Installing cargo-deny",
            install.arg(tools()),
            "Is crates.io reachable?",
        )?;
    }
    let mut check = program(
        installed,
        &["--workspace", "--all-features", "check", "--hide-inclusion-graph"],
    );
    check.args(["bans", "licenses", "sources"]);
    run("Checking dependencies", &mut check, "See deny.toml.")
}
