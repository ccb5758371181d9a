//! `cargo xtask check`, `cargo xtask lint`, and the lints of the suite. The programs and tests themselves are linted as they are compiled.

use std::{fs, panic::resume_unwind, thread};

use anyhow::Context;

use crate::{
    step::{cargo, npm, output_of, program, root, run},
    test::nextest,
    tools::{self, ALL_PACKAGES, CARGO_DENY, CARGO_NEXTEST, LINTERS, SHELLCHECK, Tool},
};

/// Which files each of the slow lints last passed with.
const PASSED: &str = "tools/pins/passed-lints.txt";

/// A lint whose tools take long to fetch: the suite runs it only if its files are others than those that it last passed with.
struct SlowLint {
    name: &'static str,
    files: &'static [&'static str],
    tools: &'static [Tool],
    run: fn() -> anyhow::Result<()>,
}

const SLOW_LINTS: [SlowLint; 2] = [
    SlowLint {
        name: "dependencies",
        files: &["Cargo.lock", "deny.toml"],
        tools: &[CARGO_DENY],
        run: dependencies,
    },
    SlowLint {
        name: "images-scripts-workflows",
        files: &["*.Dockerfile", "*.sh", ".ci", ".github"],
        tools: &[LINTERS, SHELLCHECK],
        run: images_scripts_workflows,
    },
];

/// For after every edit: format, lints, types and the unit tests. Rust and the front ends run side by side.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn check() -> anyhow::Result<()> {
    tools::ensure(&[ALL_PACKAGES, CARGO_NEXTEST])?;
    thread::scope(|scope| {
        let front_ends = scope.spawn(|| {
            front_ends()?;
            run(
                "Unit tests of the front ends",
                &mut npm("test:unit", &["--reporter=dot"]),
            )
        });
        let rust =
            format().and_then(|()| run("Unit tests of Rust", &mut nextest(&["run", "--lib", "--bins"])));
        let front_ends = front_ends.join().unwrap_or_else(|panic| resume_unwind(panic));
        rust.and(front_ends)
    })
}

/// All that can be checked without running our code, the benches and the rehearsal included. Fast is what the suite adds to compiling,
/// which lints: without Clippy, and without slow lints whose files are those that they last passed with.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn lint(is_fast: bool) -> anyhow::Result<()> {
    tools::ensure(&[ALL_PACKAGES])?;
    format()?;
    if !is_fast {
        let mut clippy = cargo(&["clippy", "--quiet", "--workspace", "--all-targets"]);
        run("Clippy", clippy.args(["--", "--deny", "warnings"]))?;
    }
    front_ends()?;
    let mut due = SLOW_LINTS.iter().filter(|lint| !is_fast || !lint.has_passed());
    due.try_for_each(SlowLint::pass)
}

fn format() -> anyhow::Result<()> {
    run(
        "Format (mend it by cargo fmt)",
        &mut cargo(&["fmt", "--all", "--check"]),
    )
}

fn front_ends() -> anyhow::Result<()> {
    run(
        "Lints of the front ends (npm run format mends many)",
        &mut npm("lint", &[]),
    )?;
    run("Types of the front ends", &mut npm("typecheck", &[]))
}

fn dependencies() -> anyhow::Result<()> {
    let arguments = ["--workspace", "--all-features", "check", "--hide-inclusion-graph"];
    let mut deny = CARGO_DENY.program("cargo-deny", &arguments);
    // An exception that nothing needs is a warning.
    run(
        "cargo-deny",
        deny.args(["--deny", "warnings", "bans", "licenses", "sources"]),
    )
}

fn images_scripts_workflows() -> anyhow::Result<()> {
    let scripts = output_of(&mut program("git", &["ls-files", "*.sh"])).context("git lists no files")?;
    run("shellcheck", program("shellcheck", &[]).args(scripts.lines()))?;
    let commands: [(&str, &[&str]); 4] = [
        ("hadolint", &["images/rust.Dockerfile", "images/web.Dockerfile"]),
        (
            "zizmor",
            &["--offline", "--quiet", "--persona=auditor", ".github"],
        ),
        ("actionlint", &[]),
        (
            "check-jsonschema",
            &[
                "--quiet",
                "--builtin-schema",
                "vendor.dependabot",
                ".github/dependabot.yml",
            ],
        ),
    ];
    commands
        .iter()
        .try_for_each(|(name, arguments)| run(name, &mut LINTERS.program(name, arguments)))
}

impl SlowLint {
    /// Runs it, and writes down with which files it passed.
    fn pass(&self) -> anyhow::Result<()> {
        tools::ensure(self.tools)?;
        (self.run)()?;
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

    /// Its name and a hash of its files.
    fn line(&self) -> anyhow::Result<String> {
        let script = r#"git ls-files -z -- "$@" | xargs -0 cat | git hash-object --stdin"#;
        let mut hash = program("sh", &["-c", script, "hash"]);
        let hash = output_of(hash.args(self.files)).context("git does not hash files")?;
        Ok(format!("{} {hash}", self.name))
    }
}

fn passed() -> String {
    fs::read_to_string(root().join(PASSED)).unwrap_or_default()
}
