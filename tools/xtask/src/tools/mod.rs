//! What chores need beyond Rust and Node, fetched when a chore first asks for it.
//!
//! What needs no rights goes into `target/tools` and `node_modules`. What only root can install, and what the README asks
//! for, is named, with the command to do it by hand, before anything is fetched or built.

mod debian;
mod fetch;
mod folder;
mod node;
mod python;
mod system;
mod tool;
mod version;

use fetch::Fetch;
pub use folder::folder;
pub use system::{LLVM_PROFDATA, print_missing_packages};
pub use tool::{
    Tool, cargo_cyclonedx, cargo_deny, dockerfile_python, git_cliff, kubernetes_python, linter,
    schemathesis_python, test_python,
};

/// Makes sure that tools are there: fetches, side by side, those that are missing.
///
/// # Errors
///
/// Where one is missing that is not ours to install, before anything is fetched; where one cannot be fetched.
pub fn ensure_tools(tools: &[Tool]) -> anyhow::Result<()> {
    ensure_tools_while(tools, || Ok(()), || Ok(()))
}

/// Like [`ensure_tools`], while `meanwhile` runs; `then` runs as soon as the tools are there.
///
/// # Errors
///
/// Those of [`ensure_tools`], and of both functions.
pub fn ensure_tools_while(
    tools: &[Tool],
    meanwhile: impl FnOnce() -> anyhow::Result<()>,
    then: impl FnOnce() -> anyhow::Result<()> + Send,
) -> anyhow::Result<()> {
    system::require(tools)?;
    let missing: Vec<Fetch> = each_once(tools)
        .into_iter()
        .filter_map(Tool::fetch)
        .filter(|fetch| !fetch.is_there)
        .collect();
    fetch::fetch_concurrently(&missing, meanwhile, then)
}

/// No tool twice, nor the packages of the site beside all packages: both are written to one folder.
fn each_once(tools: &[Tool]) -> Vec<Tool> {
    let mut once = Vec::new();
    for tool in tools {
        let is_held = *tool == Tool::SitePackages && tools.contains(&Tool::AllPackages);
        if !is_held && !once.contains(tool) {
            once.push(*tool);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_fetched_twice_at_once() {
        use Tool::{AllPackages, Linters, SitePackages};
        let tools = [SitePackages, Linters, AllPackages, Linters];
        assert_eq!(each_once(&tools), [Linters, AllPackages]);
        assert_eq!(each_once(&[SitePackages]), [SitePackages]);
    }
}
