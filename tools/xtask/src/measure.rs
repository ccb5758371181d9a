//! `cargo xtask measure`.

use clap::ValueEnum;

use crate::{
    bench, build, front_end, profile,
    step::{compile, empty_folder, npm, program, root, run},
    tools::{self, Tool},
};

/// What can be measured.
#[derive(Clone, Copy, ValueEnum)]
pub enum What {
    /// A release build of all services from nothing
    Build,
    /// Memory of each service, idle and during 100 simultaneous uploads of 10 MB
    Memory,
    /// How fast /readyz notices that NATS goes and comes
    Readiness,
    /// From start to ready, memory at rest and size of each service
    Services,
    /// Accepted forms and sent mails a second, with telemetry and without
    Telemetry,
    /// What Lighthouse says of each kind of page
    Web,
    /// What MDN's HTTP Observatory says of the headers of each kind of page
    Headers,
    /// What a phone's main thread does for a first view, beside plain React pages of the same HTML
    FirstView,
    /// What a first view costs with remotes, against the same pages as one bundle
    Federation,
}

impl What {
    fn tools(self) -> &'static [Tool] {
        match self {
            Self::Build => &[],
            Self::Memory | Self::Readiness | Self::Services | Self::Telemetry => {
                &[Tool::NatsServer, Tool::SitePackages]
            }
            Self::Headers => &[
                Tool::NatsServer,
                Tool::AllPackages,
                Tool::Observatory,
                Tool::OpenSsl,
            ],
            Self::Web | Self::FirstView | Self::Federation => {
                &[Tool::NatsServer, Tool::AllPackages, Tool::Chromium]
            }
        }
    }
}

/// Measures release builds, as they would run.
///
/// # Errors
///
/// Where a tool is missing, a build fails, a budget is exceeded, or nothing can be measured.
pub fn measure(what: What) -> anyhow::Result<()> {
    tools::ensure_tools(what.tools())?;
    match what {
        What::Build => cold_build(),
        What::Memory => running("memory"),
        What::Readiness => running("readiness"),
        What::Services => front_end::build_where_changed().and_then(|()| running("services")),
        What::Telemetry => running("telemetry").and_then(|()| bench::telemetry()),
        What::Web => on_stack("the site", "measure"),
        What::Headers => on_stack("headers", "measure:headers"),
        What::FirstView => by_script(
            "first views",
            "measure:first-view",
            "A page does not work: see above.",
        ),
        What::Federation => by_script(
            "federation",
            "measure:federation",
            "A page could not be measured: see above.",
        ),
    }
}

fn cold_build() -> anyhow::Result<()> {
    let folder = root().join("target/cold");
    empty_folder(&folder)?;
    compile(
        "Release build of all services from nothing",
        profile::release_build(&[])?.args(["--target-dir", "target/cold"]),
    )?;
    Ok(std::fs::remove_dir_all(folder)?)
}

fn running(what: &str) -> anyhow::Result<()> {
    build::release()?;
    let mut stack = program(profile::released("stack"), &["measure", what]);
    run(
        &format!("Measuring {what}"),
        &mut stack,
        "A budget is exceeded, or the stack failed: see above.",
    )
}

fn on_stack(what: &str, script: &str) -> anyhow::Result<()> {
    build::all()?;
    let mut stack = program(
        root().join("target/debug/stack"),
        &["run", "npm", "run", "--silent", script],
    );
    run(
        &format!("Measuring {what}"),
        &mut stack,
        "A budget is exceeded, or the stack failed: see above.",
    )
}

/// By a script that starts the gateways it needs.
fn by_script(what: &str, script: &str, hint: &str) -> anyhow::Result<()> {
    build::all()?;
    run(&format!("Measuring {what}"), &mut npm(script, &[]), hint)
}
