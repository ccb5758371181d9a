//! `cargo xtask lint`.

use crate::{
    setup::{cargo_tool, judge},
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
    )?;
    dockerfiles()?;
    workflows()
}

fn dockerfiles() -> anyhow::Result<()> {
    let mut check = judge("hadolint", &["images/rust.Dockerfile", "images/web.Dockerfile"]);
    run("Linting Dockerfiles", &mut check, "Mend what stands above.")
}

/// What they may do is judged by zizmor, whether they work by actionlint.
fn workflows() -> anyhow::Result<()> {
    let mend = "Mend what stands above.";
    let mut safe = judge(
        "zizmor",
        &["--offline", "--quiet", "--persona=auditor", ".github"],
    );
    run("Auditing workflows", &mut safe, mend)?;
    run("Linting workflows", &mut judge("actionlint", &[]), mend)?;
    let mut updates = judge("check-jsonschema", &["--quiet", "--builtin-schema"]);
    updates.args(["vendor.dependabot", ".github/dependabot.yml"]);
    run("Checking how dependencies are updated", &mut updates, mend)
}

fn cargo_deny() -> anyhow::Result<()> {
    let mut check = program(
        cargo_tool("cargo-deny", CARGO_DENY)?,
        &["--workspace", "--all-features", "check", "--hide-inclusion-graph"],
    );
    check.args(["bans", "licenses", "sources"]);
    run("Checking dependencies", &mut check, "See deny.toml.")
}
