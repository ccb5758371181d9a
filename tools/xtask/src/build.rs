//! What `up`, `test` and the measurements run.

use crate::{
    front_end, profile,
    step::{cargo, compile},
};

/// Debug builds of all programs, and the site.
///
/// # Errors
///
/// Where something does not compile, or the site cannot be built.
pub fn all() -> anyhow::Result<()> {
    programs()?;
    front_end::build_where_changed()
}

/// Debug builds of all programs: of fewer, cargo would choose other features, and compile much anew.
///
/// # Errors
///
/// Where something does not compile.
pub fn programs() -> anyhow::Result<()> {
    compile(
        "Building the services",
        &mut cargo(&["build", "--workspace", "--bins"]),
    )
}

/// Release builds of all programs, as they would run.
///
/// # Errors
///
/// Where something does not compile.
pub fn release() -> anyhow::Result<()> {
    compile("Release build", profile::release_build(&[])?.arg("--bins"))
}
