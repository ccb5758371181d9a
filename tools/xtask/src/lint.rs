//! `cargo xtask lint`.

use anyhow::Context;

use crate::{
    step::{cargo, command_output, npm, program, run},
    tools::{Tool, cargo_deny, linter},
};

/// What it needs.
pub const TOOLS: [Tool; 4] = [
    Tool::AllPackages,
    Tool::Linters,
    Tool::ShellCheck,
    Tool::CargoDeny,
];

const FIX_HINT: &str = "Mend what stands above.";

/// Everything that can be checked without running our code.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn lint() -> anyhow::Result<()> {
    rust()?;
    dependencies()?;
    front_ends()?;
    dockerfiles()?;
    shell_scripts()?;
    workflows()
}

/// Format and lints of Rust.
///
/// # Errors
///
/// Where rustfmt would change something, or Clippy warns.
pub fn rust() -> anyhow::Result<()> {
    run(
        "Checking the format",
        &mut cargo(&["fmt", "--all", "--check"]),
        "Run: cargo fmt",
    )?;
    let mut clippy = cargo(&["clippy", "--quiet", "--workspace", "--all-targets"]);
    run(
        "Linting Rust",
        clippy.args(["--", "--deny", "warnings"]),
        FIX_HINT,
    )
}

/// Format, lints and types of the front ends, what nothing uses of them, and lints of the contracts.
///
/// # Errors
///
/// Where Biome, Buf or knip finds something, or a type is wrong.
pub fn front_ends() -> anyhow::Result<()> {
    run(
        "Linting the front ends and the contracts",
        &mut npm("lint", &[]),
        "Much of it mends: npm run format",
    )?;
    run("Checking types", &mut npm("typecheck", &[]), FIX_HINT)
}

fn dockerfiles() -> anyhow::Result<()> {
    let mut check = linter("hadolint", &["images/rust.Dockerfile", "images/web.Dockerfile"]);
    run("Linting Dockerfiles", &mut check, FIX_HINT)
}

/// Those that git has.
fn shell_scripts() -> anyhow::Result<()> {
    let listed = command_output("git", &["ls-files", "*.sh"]).context("git lists no files")?;
    let mut check = program("shellcheck", &[]);
    run("Linting shell scripts", check.args(listed.lines()), FIX_HINT)
}

/// What they may do is judged by zizmor, whether they work by actionlint.
fn workflows() -> anyhow::Result<()> {
    let mut safe = linter(
        "zizmor",
        &["--offline", "--quiet", "--persona=auditor", ".github"],
    );
    run("Auditing workflows", &mut safe, FIX_HINT)?;
    run("Linting workflows", &mut linter("actionlint", &[]), FIX_HINT)?;
    let mut updates = linter("check-jsonschema", &["--quiet", "--builtin-schema"]);
    updates.args(["vendor.dependabot", ".github/dependabot.yml"]);
    run("Checking how dependencies are updated", &mut updates, FIX_HINT)
}

fn dependencies() -> anyhow::Result<()> {
    let mut check = program(
        cargo_deny(),
        &["--workspace", "--all-features", "check", "--hide-inclusion-graph"],
    );
    // An exception that is needed no more is one, too.
    check.args(["--deny", "warnings", "bans", "licenses", "sources"]);
    run("Checking dependencies", &mut check, "See deny.toml.")
}
