//! Chores too slow or too rare for the suite.

use std::time::Instant;

use anyhow::Context;

use crate::{
    build::Build,
    step::{linting, run, script},
    test::Part,
    tools::{self, *},
};

pub struct Job {
    pub name: &'static str,
    about: &'static str,
    tools: &'static [Tool],
    build: Build,
    script: &'static str,
    is_nightly: bool,
}

const NIGHTLY: Job = Job {
    name: "",
    about: "",
    tools: &[],
    build: Build::Nothing,
    script: "",
    is_nightly: true,
};
const BY_HAND: Job = Job {
    is_nightly: false,
    ..NIGHTLY
};

pub const JOBS: [Job; 20] = [
    Job {
        name: "generate",
        about: "Writes every committed file that is generated from code, and all mails to target/mail-preview",
        tools: &[CARGO_NEXTEST, ALL_PACKAGES, KUBERNETES_CHECKERS],
        build: Build::Programs,
        script: "cargo run --quiet --package site-proto --features generate --example generate
            GENERATE=1 cargo nextest run --tests generate
            npm run generate --workspace=frontends/kit
            target/tools/k8s/bin/python k8s/tests/flows.py",
        ..BY_HAND
    },
    Job {
        name: "lint",
        script: r#""$XTASK" lint"#,
        ..NIGHTLY
    },
    Job {
        name: "advisories",
        about: "Checks the dependencies for known advisories",
        tools: &[CARGO_DENY],
        script: "cargo deny --workspace --features site-service/jemalloc check --deny warnings advisories",
        ..NIGHTLY
    },
    // One target is enough, because both platforms have the same dependencies.
    Job {
        name: "sbom",
        about: "Writes the images' bills of materials to target/sbom, as CycloneDX",
        tools: &[SITE_PACKAGES, LINTERS, CARGO_CYCLONEDX],
        script: r#"mkdir -p target/sbom
            cargo cyclonedx --quiet --features site-service/jemalloc --format json --spec-version 1.5 --no-build-deps --target x86_64-unknown-linux-gnu
            mv services/*/*.cdx.json tools/sitectl/sitectl.cdx.json target/sbom/
            find crates tools -name '*.cdx.json' -delete
            for name in shell blog careers; do
                npm sbom --silent --package-lock-only --sbom-format cyclonedx --workspace "frontends/$name" \
                    > "target/sbom/web-$name.cdx.json"
            done
            target/tools/ci/bin/python images/check_sbom.py target/sbom"#,
        ..NIGHTLY
    },
    Job {
        name: "images",
        about: "Builds images of release programs, starts and weighs them, and runs them by compose.yaml",
        tools: &[
            NATS_SERVER,
            SITE_PACKAGES,
            CONTAINERS,
            CADDY,
            PODMAN_COMPOSE,
            MAKE,
        ],
        build: Build::Release,
        script: "python3 images/contents_test.py target/release --weigh
            target/tools/compose/bin/python images/compose_test.py target/release",
        ..NIGHTLY
    },
    Job {
        name: "engines",
        script: r#""$XTASK" test engines"#,
        ..NIGHTLY
    },
    Job {
        name: "slow-tests",
        about: "Runs the Rust tests that .config/nextest.toml leaves out",
        tools: Part::Rust.tools(),
        build: Build::Site,
        script: "cargo nextest run --tests --ignore-default-filter -E 'not default()' --test-threads 1",
        ..NIGHTLY
    },
    Job {
        name: "model",
        about: "Runs 150 sequences of the model",
        tools: Part::Rust.tools(),
        build: Build::Programs,
        script: "MODEL_SEQUENCES=${1:-150} cargo nextest run --tests -E 'binary(model)'",
        ..NIGHTLY
    },
    Job {
        name: "chaos",
        about: "Makes faults under load, and checks that nothing is lost: parts of their names, --seed, --list",
        tools: &[NATS_SERVER, SITE_PACKAGES, FAKETIME],
        build: Build::Programs,
        script: r#"cargo build --example test_features --bin chaos
            target/debug/chaos "$@""#,
        ..NIGHTLY
    },
    Job {
        name: "rehearse",
        about: "Rehearses a cluster: starts the overlay production, tries every flow, loses a broker, restarts everything",
        tools: &[NATS_SERVER, SITE_PACKAGES, KUBERNETES_CHECKERS, POD_SANDBOX],
        build: Build::Site,
        script: "cargo run --quiet --package rehearsal",
        ..NIGHTLY
    },
    Job {
        name: "browser-cluster",
        about: "Runs the browser tests that hosting can change, hosted as in the cluster",
        tools: Part::Browser.tools(),
        build: Build::Site,
        script: r#"target/debug/stack run --hosting cluster npm run --silent test:browser -- \
            --project=site --project=outages --grep=@hosting "$@""#,
        ..NIGHTLY
    },
    Job {
        name: "front-ends",
        about: "Runs the nightly tests of the front ends, and validates their HTML",
        tools: &[NATS_SERVER, ALL_PACKAGES, CHROMIUM, CHROMIUM_WITH_WINDOW, JAVA],
        build: Build::Site,
        script: r#"npm run --silent validate
            target/debug/stack run npm run --silent test:nightly -- "$@""#,
        ..NIGHTLY
    },
    Job {
        name: "api",
        about: "Sends requests within and outside docs/openapi.json, by Schemathesis",
        tools: &[NATS_SERVER, SITE_PACKAGES, SCHEMATHESIS],
        build: Build::Programs,
        script: r#"export RATE_PER_MINUTE=1000000 RATE_BURST=1000000
            target/debug/stack run target/tools/schemathesis/bin/python services/gateway/tests/api/openapi_requests.py \
            --max-examples 1000 "$@""#,
        ..NIGHTLY
    },
    Job {
        name: "attack",
        about: "Attacks the site behind the Caddy of docs/proxy.md, while visitors send forms",
        tools: &[NATS_SERVER, SITE_PACKAGES, CADDY, ATTACKERS],
        build: Build::Site,
        script: "target/debug/stack run python3 tools/testkit/attack.py",
        ..NIGHTLY
    },
    // Fuzzes without a sanitizer, which needs a nightly compiler: our code has no `unsafe`.
    Job {
        name: "fuzz",
        about: "Runs fuzz targets by libFuzzer: [part of a name] [seconds for each]",
        tools: &[CARGO_NEXTEST, CARGO_BOLERO, CPP_COMPILER],
        build: Build::Programs,
        script: r#"cargo nextest list --lib --message-format oneline -E 'test(/(^|::)fuzz::/)' | grep -F -- "${1:-}" | {
                while read -r package test; do
                    env -u RUSTC_WORKSPACE_WRAPPER \
                        cargo bolero test --sanitizer NONE --package "$package" -T "${2:-60}s" "$test" < /dev/null || failed=1
                done
                exit "${failed:-0}"
            }"#,
        ..NIGHTLY
    },
    Job {
        name: "mutants",
        about: "Changes one place of a package at a time: its own tests must fail (.cargo/mutants.toml)",
        tools: &[CARGO_MUTANTS],
        script: r#"for package in ${*:-visitor subscribers site-events}; do
                cargo mutants --output target --package "$package" -- --lib || failed=1
            done
            exit "${failed:-0}""#,
        ..NIGHTLY
    },
    Job {
        name: "measure build",
        about: "Release build of the six services from nothing",
        tools: &[MAKE],
        script: "rm -rf target/cold; time cargo build --release --locked --workspace --features site-service/jemalloc --bin gateway --bin contact \\
            --bin newsletter --bin careers --bin notifier --bin web --target-dir target/cold; rm -rf target/cold",
        ..NIGHTLY
    },
    Job {
        name: "measure memory",
        about: "Memory of each service, idle and during uploads",
        tools: &[NATS_SERVER, SITE_PACKAGES, MAKE],
        build: Build::Release,
        script: "target/release/stack run python3 tools/testkit/memory.py",
        ..NIGHTLY
    },
    Job {
        name: "measure web",
        about: "Lighthouse and axe of each kind of page",
        tools: Part::Browser.tools(),
        build: Build::Site,
        script: r#"target/debug/stack run npm run --silent measure -- "$@""#,
        ..NIGHTLY
    },
    Job {
        name: "bench",
        about: "Compares release builds with peers that do the same work: accept, upload, pages or deliver",
        tools: &[NATS_SERVER, SITE_PACKAGES, FASTIFY, LOAD, MAKE],
        build: Build::Release,
        script: r#"if [ $# -gt 0 ]; then target/release/bench "$@"; exit; fi
            for what in accept upload pages deliver; do target/release/bench "$what"; done"#,
        ..NIGHTLY
    },
];

/// # Errors
///
/// If no job has this name, or it fails.
pub fn run_named(words: &[String]) -> anyhow::Result<()> {
    let line = words.join(" ") + " ";
    let job = JOBS
        .iter()
        .find(|job| line.starts_with(&format!("{} ", job.name)));
    let job = job.with_context(|| format!("There is no chore {line}; see cargo xtask help."))?;
    job.run(&words[job.name.split(' ').count()..])
}

/// Runs the nightly jobs whose names contain a word, or all. A failed job does not stop the others.
///
/// # Errors
///
/// If jobs fail. The error names them.
pub fn nightly(words: &[String]) -> anyhow::Result<()> {
    let is_chosen = |job: &&Job| words.is_empty() || words.iter().any(|word| job.name.contains(word));
    let (mut lines, mut failed) = (Vec::new(), Vec::new());
    for job in JOBS.iter().filter(|job| job.is_nightly).filter(is_chosen) {
        println!("\n▸ nightly: {}", job.name);
        let started = Instant::now();
        let outcome = job
            .run(&[])
            .map_or_else(|error| format!("FAILED: {error:#}"), |()| "passed".to_owned());
        if outcome != "passed" {
            failed.push(job.name);
        }
        let seconds = started.elapsed().as_secs();
        lines.push(format!("{:<16} {seconds:>6} s  {outcome}", job.name));
    }
    let passed = lines.len() - failed.len();
    println!("\n{}", lines.join("\n"));
    println!("\n{passed} passed, {} failed", failed.len());
    anyhow::ensure!(!lines.is_empty(), "No nightly job has such a name.");
    anyhow::ensure!(failed.is_empty(), "These jobs failed: {}.", failed.join(", "));
    Ok(())
}

pub fn tools_of_all() -> Vec<Tool> {
    let jobs = JOBS.iter().map(|job| job.tools);
    jobs.chain([Part::Engines.tools()]).flatten().copied().collect()
}

pub fn help() -> String {
    let lines = JOBS.iter().filter(|job| !job.about.is_empty());
    let lines: Vec<String> = lines
        .map(|job| format!("  {:<16} {}", job.name, job.about))
        .collect();
    format!(
        "More chores, with options of what they run:\n{}",
        lines.join("\n")
    )
}

impl Job {
    fn run(&self, arguments: &[String]) -> anyhow::Result<()> {
        tools::ensure(self.tools)?;
        self.build.run()?;
        let mut command = match self.build {
            Build::Programs | Build::Site => linting(self.script, arguments),
            Build::Nothing | Build::Release => script(self.script, arguments),
        };
        run(self.name, &mut command)
    }
}
