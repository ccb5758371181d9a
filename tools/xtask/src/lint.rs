//! Lints of `check`, `lint` and the suite.

use std::{fs, panic::resume_unwind, thread};

use anyhow::Context;

use crate::{
    step::{linting, output_of, root, run, script},
    tools::{self, ALL_PACKAGES, CARGO_DENY, CARGO_NEXTEST, LINTERS, SHELLCHECK, Tool},
};

const CLIPPY: &str = "cargo clippy --quiet --workspace --all-targets -- --deny warnings";
/// Name and file hash of each slow lint that passed.
const PASSED: &str = "tools/pins/passed-lints.txt";

/// Lint with tools that are slow to fetch. The suite skips it while its files are unchanged.
struct SlowLint {
    name: &'static str,
    files: &'static str,
    tools: &'static [Tool],
    script: &'static str,
}

const SLOW_LINTS: [SlowLint; 3] = [
    SlowLint {
        name: "dependencies",
        files: "Cargo.lock deny.toml",
        tools: &[CARGO_DENY],
        script: "cargo deny --workspace --features site-service/jemalloc check --hide-inclusion-graph --deny warnings bans licenses sources",
    },
    SlowLint {
        name: "contracts",
        files: "proto crates/proto",
        tools: &[],
        script: r#"written() { git hash-object crates/proto/src/generated/*; }
            before=$(written)
            cargo run --quiet --package site-proto --features generate --example generate
            [ "$before" = "$(written)" ] || { echo 'crates/proto/src/generated was not what proto says, and is now.'; exit 1; }"#,
    },
    SlowLint {
        name: "images-scripts-workflows",
        files: "*.Dockerfile *.sh .ci .github tools/pins/ci.txt",
        tools: &[LINTERS, SHELLCHECK],
        script: r#"PATH="$PWD/target/tools/ci/bin:$PATH"
            shellcheck .ci/run $(git ls-files '*.sh')
            hadolint images/*.Dockerfile
            zizmor --offline --quiet --persona=auditor .github
            actionlint
            check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml"#,
    },
];

/// Checks Rust and the front ends in parallel.
///
/// # Errors
///
/// Returns the first failure.
pub fn check() -> anyhow::Result<()> {
    tools::ensure(&[ALL_PACKAGES, CARGO_NEXTEST])?;
    thread::scope(|scope| {
        let front_ends = scope.spawn(|| {
            front_ends()?;
            let mut unit_tests = script("npm run --silent test:unit -- --reporter=dot", &[]);
            run("Unit tests of the front ends", &mut unit_tests)
        });
        let mut unit_tests = linting("cargo nextest run --lib --bins", &[]);
        let rust = format().and_then(|()| run("Unit tests of Rust", &mut unit_tests));
        let front_ends = front_ends.join().unwrap_or_else(|panic| resume_unwind(panic));
        rust.and(front_ends)
    })
}

/// Lints all code. The fast variant skips Clippy, because the suite compiles with Clippy's driver.
///
/// # Errors
///
/// Returns the first failure.
pub fn lint(is_fast: bool) -> anyhow::Result<()> {
    tools::ensure(&[ALL_PACKAGES])?;
    format()?;
    if !is_fast {
        run("Clippy", &mut script(CLIPPY, &[]))?;
    }
    front_ends()?;
    let mut due = SLOW_LINTS.iter().filter(|lint| !is_fast || !lint.has_passed());
    due.try_for_each(SlowLint::run)
}

fn format() -> anyhow::Result<()> {
    let mut format = script("cargo fmt --all --check", &[]);
    run("Format (cargo fmt fixes it)", &mut format)
}

fn front_ends() -> anyhow::Result<()> {
    let mut lints = script("npm run --silent lint && npm run --silent typecheck", &[]);
    run(
        "Lints and types of the front ends (npm run format fixes many)",
        &mut lints,
    )
}

impl SlowLint {
    fn run(&self) -> anyhow::Result<()> {
        tools::ensure(self.tools)?;
        run(self.name, &mut script(self.script, &[]))?;
        let passed = passed();
        let others = passed.lines().filter(|line| !line.starts_with(self.name));
        let mut lines: Vec<String> = others.map(str::to_owned).chain([self.line()?]).collect();
        lines.sort();
        Ok(fs::write(root().join(PASSED), lines.join("\n") + "\n")?)
    }

    fn has_passed(&self) -> bool {
        self.line()
            .is_ok_and(|line| passed().lines().any(|passed| passed == line))
    }

    fn line(&self) -> anyhow::Result<String> {
        let hash = format!(
            "set -f; git ls-files -z -- {} | xargs -0 cat | git hash-object --stdin",
            self.files
        );
        let hash = output_of(&mut script(&hash, &[])).context("git does not hash files")?;
        Ok(format!("{} {hash}", self.name))
    }
}

fn passed() -> String {
    fs::read_to_string(root().join(PASSED)).unwrap_or_default()
}
