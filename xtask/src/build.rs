//! What `up`, `test` and the measurements run.

use crate::{
    front_end,
    step::{cargo, run},
};

/// Debug builds of the services, and the site.
pub fn build() -> anyhow::Result<()> {
    services()?;
    front_end::build_where_changed()
}

/// Debug builds of the services.
pub fn services() -> anyhow::Result<()> {
    let mut build = cargo(&["build", "--workspace", "--bins"]);
    run(
        "Building the services",
        &mut build,
        "The compiler's message stands above.",
    )
}
