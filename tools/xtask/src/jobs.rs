//! What is too slow, too rare or too much of a measurement for the suite: chores of their own, and all of them by `cargo xtask nightly`.

use std::{
    fs::{self, File},
    time::Instant,
};

use anyhow::Context;

use crate::{
    build, lint,
    step::{cargo, linting, npm, on_stack, output_of, program, root, run},
    test::{self, Part, kubernetes_python, nextest},
    tools::{self, *},
};

/// A job of the night: its name, and what it does.
type Job = (&'static str, fn() -> anyhow::Result<()>);

const NIGHTLY: [Job; 21] = [
    ("lint", || lint::lint(false)),
    ("advisories", advisories),
    ("sbom", sbom),
    ("images", images),
    ("engines", || test::test(Some(Part::Engines), &[])),
    ("slow-tests", slow_tests),
    ("model", || model(1_000)),
    ("chaos", || chaos(&[])),
    ("soak", || chaos(&["soak".to_owned()])),
    ("rehearse", || rehearse(&[])),
    ("browser-cluster", browser_in_cluster),
    ("front-ends", front_ends),
    ("api", api),
    ("fuzz", || fuzz(None, 60)),
    ("mutants", mutants),
    ("measure-build", || measure("build")),
    ("measure-memory", || measure("memory")),
    ("measure-web", || measure("web")),
    ("bench-accept", || bench("accept")),
    ("bench-upload", || bench("upload")),
    ("bench-pages", || bench("pages")),
];

/// Tools of all jobs, for `cargo xtask system-packages --nightly`.
pub const TOOLS: [Tool; 8] = [
    CLAMD_LIBRARY,
    MAIL_TOOLS,
    CHROMIUM,
    ENGINES,
    POD_SANDBOX,
    LOAD,
    JAVA,
    CPP_COMPILER,
];

/// Runs the jobs of these names, or all of them, even if one fails.
///
/// # Errors
///
/// Names the jobs that failed.
pub fn nightly(names: &[String]) -> anyhow::Result<()> {
    let chosen = |name: &str| names.is_empty() || names.iter().any(|chosen| chosen == name);
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for (name, job) in NIGHTLY.iter().filter(|(name, _)| chosen(name)) {
        println!("\n▸ nightly: {name}");
        let started = Instant::now();
        let outcome = match job() {
            Ok(()) => "passed".to_owned(),
            Err(error) => {
                failed.push(*name);
                format!("FAILED: {error:#}")
            }
        };
        lines.push(format!(
            "{name:<16} {:>8.1} s  {outcome}",
            started.elapsed().as_secs_f64()
        ));
    }
    anyhow::ensure!(!lines.is_empty(), "There is no such job: {}.", names.join(", "));
    println!(
        "\n{}\n\n{} passed, {} failed",
        lines.join("\n"),
        lines.len() - failed.len(),
        failed.len()
    );
    anyhow::ensure!(failed.is_empty(), "These jobs failed: {}.", failed.join(", "));
    Ok(())
}

/// Faults under load, by rows of the table in `tools/reliability`.
///
/// # Errors
///
/// If a tool is missing, something does not compile, or the promise does not hold.
pub fn chaos(arguments: &[String]) -> anyhow::Result<()> {
    tools::ensure(&[NATS_SERVER, SITE_PACKAGES, FAKETIME])?;
    build::programs(&["chaos"])?;
    run(
        "Faults under load",
        program(root().join("target/debug/chaos"), &[]).args(arguments),
    )
}

/// Starts what the manifests say, and then restarts, loses and closes what a cluster does.
///
/// # Errors
///
/// If a tool is missing, something does not compile, or the rehearsal does not go as it must.
pub fn rehearse(arguments: &[String]) -> anyhow::Result<()> {
    tools::ensure(&[
        NATS_SERVER,
        SITE_PACKAGES,
        KUBERNETES_CHECKERS,
        CLAMD,
        CLAMD_LIBRARY,
        POD_SANDBOX,
    ])?;
    build::programs(&[])?;
    build::site()?;
    let mut rehearsal = linting(cargo(&["run", "--quiet", "--package", "rehearsal", "--"]));
    run("Rehearsing a cluster", rehearsal.args(arguments))
}

/// Compares release builds with peers that do the same work.
///
/// # Errors
///
/// If a tool is missing, a build fails, or a bar is missed.
pub fn bench(what: &str) -> anyhow::Result<()> {
    tools::ensure(&[NATS_SERVER, SITE_PACKAGES, FASTIFY, NGINX, LOAD])?;
    build::site()?;
    build::release(&[])?;
    let mut bench = cargo(&[
        "run",
        "--release",
        "--package",
        "bench",
        "--bin",
        "bench",
        "--",
        what,
    ]);
    run(&format!("Comparing: {what}"), &mut bench)
}

/// Measures what docs/performance.md states.
///
/// # Errors
///
/// If a tool is missing, a build fails, or a budget is exceeded.
pub fn measure(what: &str) -> anyhow::Result<()> {
    match what {
        "build" => {
            let cold = root().join("target/cold");
            let mut build = cargo(&[
                "build",
                "--release",
                "--locked",
                "--workspace",
                "--bins",
                "--target-dir",
            ]);
            run("Release build from nothing", build.arg(&cold))?;
            Ok(fs::remove_dir_all(cold)?)
        }
        "memory" => {
            tools::ensure(&[NATS_SERVER, SITE_PACKAGES])?;
            build::release(&[])?;
            run(
                "Measuring memory",
                &mut program(root().join("target/release/stack"), &["measure", "memory"]),
            )
        }
        "web" => {
            tools::ensure(&[NATS_SERVER, ALL_PACKAGES, CHROMIUM])?;
            build::programs(&[])?;
            build::site()?;
            run(
                "Measuring the site",
                &mut on_stack(&[], &["npm", "run", "--silent", "measure"]),
            )
        }
        _ => anyhow::bail!("build, memory and web can be measured."),
    }
}

/// Fuzz targets by libFuzzer, for some seconds each: all of them, or one that `cargo bolero list` names.
///
/// # Errors
///
/// If cargo-bolero cannot be fetched, a target does not compile, or an input shows a fault.
pub fn fuzz(target: Option<&str>, seconds: u32) -> anyhow::Result<()> {
    tools::ensure(&[CARGO_BOLERO, CPP_COMPILER])?;
    let bolero =
        |arguments: &[&str]| CARGO_BOLERO.program("cargo-bolero", &[&["bolero"], arguments].concat());
    let listed = output_of(&mut bolero(&["list"])).context("cargo-bolero lists no targets")?;
    let targets = listed.lines().filter_map(|line| {
        // {"package":"visitor","test":"fuzz::…"}
        let value = |key: &str| line.split_once(&format!("\"{key}\":\""))?.1.split('"').next();
        Some((value("package")?, value("test")?))
    });
    let mut has_run = false;
    for (package, test) in targets.filter(|(_, test)| target.is_none_or(|target| test.contains(target))) {
        has_run = true;
        let time = format!("{seconds}s");
        // Without a sanitizer, which would need a nightly compiler: our code has no `unsafe`.
        let options = [
            "--sanitizer",
            "NONE",
            "--profile",
            "fuzz",
            "--time",
            &time,
            "--package",
            package,
        ];
        run(
            &format!("{package} {test}"),
            bolero(&["test", test]).args(options),
        )?;
    }
    anyhow::ensure!(has_run, "There is no such target; see: cargo bolero list");
    Ok(())
}

/// Checks what is publicly known of the dependencies.
///
/// # Errors
///
/// If the database cannot be fetched, or something is known.
pub fn advisories() -> anyhow::Result<()> {
    tools::ensure(&[CARGO_DENY])?;
    let arguments = [
        "--workspace",
        "--all-features",
        "check",
        "--deny",
        "warnings",
        "advisories",
    ];
    run(
        "Checking advisories",
        &mut CARGO_DENY.program("cargo-deny", &arguments),
    )
}

/// Writes bills of materials (CycloneDX) of the images' programs and front ends to `target/sbom`, and checks them.
///
/// # Errors
///
/// If a tool is missing, or a bill cannot be written or lacks something.
pub fn sbom() -> anyhow::Result<()> {
    /// Every package of the workspace gets a bill, whatever is asked for.
    const COLLECT: &str = "mv services/*/*.cdx.json tools/sitectl/sitectl.cdx.json target/sbom/ && \
                           find crates tools -name '*.cdx.json' -delete";
    tools::ensure(&[SITE_PACKAGES, LINTERS, CARGO_CYCLONEDX])?;
    let folder = root().join("target/sbom");
    fs::create_dir_all(&folder)?;
    // Both platforms of the images have the same dependencies.
    let options = [
        "cyclonedx",
        "--quiet",
        "--format=json",
        "--spec-version=1.5",
        "--no-build-deps",
    ];
    let mut programs = CARGO_CYCLONEDX.program("cargo-cyclonedx", &options);
    run(
        "Bills of the programs",
        programs.arg("--target=x86_64-unknown-linux-gnu"),
    )?;
    run("Collecting them", &mut program("sh", &["-c", COLLECT]))?;
    for name in ["shell", "blog", "careers"] {
        let mut bill = program(
            "npm",
            &[
                "sbom",
                "--silent",
                "--package-lock-only",
                "--sbom-format=cyclonedx",
            ],
        );
        bill.arg(format!("--workspace=frontends/{name}"));
        bill.stdout(File::create(folder.join(format!("web-{name}.cdx.json")))?);
        run(&format!("Bill of {name}"), &mut bill)?;
    }
    run(
        "Checking bills",
        &mut LINTERS.program("python", &["images/check_sbom.py", "target/sbom"]),
    )
}

/// Release programs in the images' root file systems, started and weighed.
///
/// # Errors
///
/// If a build fails, or an image does not start or exceeds its budget.
pub fn images() -> anyhow::Result<()> {
    tools::ensure(Part::Images.tools())?;
    build::release(&[])?;
    build::site()?;
    let arguments = ["images/contents_test.py", "target/release", "--weigh"];
    run("Images", &mut DOCKERFILE_READER.program("python", &arguments))
}

/// Writes every committed file that is made from code, and the mails to `target/mail-preview`.
///
/// # Errors
///
/// If a tool is missing, something does not compile, or cannot be written.
pub fn generate() -> anyhow::Result<()> {
    tools::ensure(&[CARGO_NEXTEST, ALL_PACKAGES, KUBERNETES_CHECKERS])?;
    let example = |package: &str, example: &str, folder: &str| {
        let mut write = cargo(&["run", "--quiet", "--package", package, "--example", example]);
        write.args(["--", folder]);
        run(example, &mut write)
    };
    example("site-proto", "generate", "crates/proto/src/generated")?;
    // Their tests write what they would call stale.
    let mut documents = nextest(&["run", "--bins", "--tests", "generated"]);
    run(
        "Tables, schemas and API documents",
        documents.env("GENERATE", "1"),
    )?;
    run(
        "Types of the API",
        &mut program("npm", &["run", "generate", "--workspace=frontends/kit"]),
    )?;
    run("Network flows", &mut kubernetes_python(&["k8s/tests/flows.py"]))?;
    example("notifier", "mail-preview", "target/mail-preview")
}

/// Writes CHANGELOG.md from the commits, for a tag that is to come.
///
/// # Errors
///
/// If git-cliff cannot be fetched, or does not understand cliff.toml.
pub fn changelog(tag: Option<&str>) -> anyhow::Result<()> {
    tools::ensure(&[GIT_CLIFF])?;
    let mut write = GIT_CLIFF.program("git-cliff", &["--offline", "--output", "CHANGELOG.md"]);
    run(
        "Writing CHANGELOG.md",
        write.args(tag.map(|tag| format!("--tag={tag}"))),
    )
}

/// Tests that `.config/nextest.toml` leaves to the night.
fn slow_tests() -> anyhow::Result<()> {
    tools::ensure(Part::Rust.tools())?;
    build::programs(&[])?;
    build::site()?;
    let slow = [
        "run",
        "--bins",
        "--tests",
        "--ignore-default-filter",
        "-E",
        "not default()",
        "--test-threads=1",
    ];
    run("Slow tests", &mut nextest(&slow))
}

fn model(sequences: u32) -> anyhow::Result<()> {
    tools::ensure(Part::Rust.tools())?;
    let mut model = nextest(&["run", "--package", "reliability", "--test", "model"]);
    run(
        "Model of the path",
        model.env("MODEL_SEQUENCES", sequences.to_string()),
    )
}

fn browser_in_cluster() -> anyhow::Result<()> {
    tools::ensure(Part::Browser.tools())?;
    build::programs(&[])?;
    build::site()?;
    let command = [
        "npm",
        "run",
        "--silent",
        "test:browser",
        "--",
        "--project=site",
        "--project=outages",
        "--grep=@hosting",
    ];
    run(
        "Browser, hosted as in the cluster",
        &mut on_stack(&["--hosting", "cluster"], &command),
    )
}

fn front_ends() -> anyhow::Result<()> {
    tools::ensure(&[NATS_SERVER, ALL_PACKAGES, CHROMIUM, JAVA])?;
    build::programs(&[])?;
    build::site()?;
    run("HTML of the built pages", &mut npm("validate", &[]))?;
    run(
        "Nightly tests of the front ends",
        &mut on_stack(&[], &["npm", "run", "--silent", "test:nightly"]),
    )
}

/// Schemathesis against the OpenAPI document.
fn api() -> anyhow::Result<()> {
    const WITHOUT_RATE_LIMITS: [(&str, &str); 4] = [
        ("RATE_PER_MINUTE", "1000000"),
        ("RATE_BURST", "1000000"),
        ("LINK_RATE_PER_MINUTE", "1000000"),
        ("VISITS_PER_SECOND", "1000000"),
    ];
    tools::ensure(&[NATS_SERVER, SITE_PACKAGES, SCHEMATHESIS])?;
    build::programs(&[])?;
    let python = SCHEMATHESIS
        .program("python", &[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    let script = "services/gateway/tests/api/openapi_requests.py";
    let mut requests = on_stack(&[], &[&python, script, "--max-examples", "1000"]);
    run(
        "Requests by the OpenAPI document",
        requests.envs(WITHOUT_RATE_LIMITS),
    )
}

/// Changes one place of the code at a time: the tests of the same package must notice (.cargo/mutants.toml).
fn mutants() -> anyhow::Result<()> {
    tools::ensure(&[CARGO_MUTANTS, NATS_SERVER])?;
    let modules = ["visitor", "subscribers", "site-events"];
    modules.iter().try_for_each(|package| {
        let mut mutants =
            CARGO_MUTANTS.program("cargo-mutants", &["mutants", "--output", "target", "--package"]);
        run(
            &format!("Mutants of {package}"),
            mutants.args([package, "--", "--lib"]),
        )
    })
}
