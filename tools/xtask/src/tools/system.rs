//! What must be there before anything is fetched or built: it is never installed here, but named.

use std::io::{Write, stdout};

use crate::step::{command_output, program};

use super::{node, python, tool::Tool};

/// What writes profiles for the compiler, of a version that reads what ours records.
pub const LLVM_PROFDATA: &str = "llvm-profdata-19";

/// Makes sure of what is not ours to install.
///
/// # Errors
///
/// Where something is missing: the message says how to install it.
pub fn require(tools: &[Tool]) -> anyhow::Result<()> {
    none_missing(&missing_packages(tools))?;
    tools.iter().try_for_each(|tool| match tool {
        Tool::SitePackages | Tool::AllPackages => node::require(),
        Tool::NatsServer
        | Tool::ForeignClients
        | Tool::Linters
        | Tool::GitCliff
        | Tool::DockerfileReader
        | Tool::KubernetesCheckers
        | Tool::Schemathesis
            if !tool.is_fetched() =>
        {
            python::require()
        }
        Tool::Root => root(),
        _ => Ok(()),
    })
}

fn root() -> anyhow::Result<()> {
    anyhow::ensure!(
        command_output("id", &["--user"]).as_deref() == Some("0")
            || runs("sudo", &["--non-interactive", "true"]),
        "Images are tried in roots of their own, pods in networks, and full disks on small ones, for which one must be root: run sudo --validate first."
    );
    Ok(())
}

fn none_missing(packages: &[String]) -> anyhow::Result<()> {
    anyhow::ensure!(
        packages.is_empty(),
        "This needs programs that only root can install: sudo apt-get update && sudo apt-get install --no-install-recommends {}",
        packages.join(" ")
    );
    Ok(())
}

/// Debian's packages that tools and the allocator's build need and that are not installed.
fn missing_packages(tools: &[Tool]) -> Vec<String> {
    let mut missing: Vec<String> = tools.iter().flat_map(|tool| tool.packages()).collect();
    missing.extend(make());
    missing.sort();
    missing.dedup();
    missing
}

/// Writes [`missing_packages`] on one line, for `apt-get install`.
///
/// # Errors
///
/// Where nobody reads stdout any more, or the disk behind it is full.
pub fn print_missing_packages(tools: &[Tool]) -> anyhow::Result<()> {
    Ok(writeln!(stdout(), "{}", missing_packages(tools).join(" "))?)
}

/// What builds the allocator, for whoever compiles a service.
fn make() -> Vec<String> {
    unless(runs("make", &["--version"]), &["make"])
}

fn unless(is_there: bool, names: &[&str]) -> Vec<String> {
    let missing = if is_there { &[] } else { names };
    missing.iter().map(ToString::to_string).collect()
}

impl Tool {
    /// The packages that are missing for it.
    fn packages(self) -> Vec<String> {
        match self {
            Self::NatsServer => unless(
                self.is_fetched() || runs("python3", &["-m", "pip", "--version"]),
                &["python3-pip"],
            ),
            Self::ForeignClients
            | Self::Linters
            | Self::GitCliff
            | Self::DockerfileReader
            | Self::KubernetesCheckers
            | Self::Schemathesis => unless(
                self.is_fetched() || runs("python3", &["-c", "import ensurepip, venv"]),
                &["python3-venv"],
            ),
            Self::SlowHttpTest => unless(is_in_path("slowhttptest"), &["slowhttptest"]),
            // It has no option that it ends well after.
            Self::Wrk => unless(is_in_path("wrk"), &["wrk"]),
            Self::H2load => unless(runs("h2load", &["--version"]), &["nghttp2-client"]),
            Self::Valgrind => unless(runs("valgrind", &["--version"]), &["valgrind"]),
            Self::LlvmProfdata => unless(runs(LLVM_PROFDATA, &["--version"]), &["llvm-19"]),
            Self::PodSandbox => pod_sandbox(),
            Self::Clamd => scanner_libraries(),
            Self::SpamAssassin => unless(runs("spamassassin", &["--version"]), &["spamassassin"]),
            Self::OpenSsl => unless(runs("openssl", &["version"]), &["openssl"]),
            Self::ShellCheck => unless(runs("shellcheck", &["--version"]), &["shellcheck"]),
            Self::CppCompiler => unless(runs("c++", &["--version"]), &["g++"]),
            Self::Chromium => chromium(),
            Self::Firefox => unless(runs("firefox-esr", &["--version"]), &["firefox-esr"]),
            Self::WebKit => {
                let mut packages = unless(runs("WebKitWebDriver", &["--help"]), &["webkit2gtk-driver"]);
                packages.extend(unless(runs("Xvfb", &["-help"]), &["xvfb"]));
                packages
            }
            Self::Java => unless(runs("java", &["-version"]), &["default-jre-headless"]),
            Self::SitePackages
            | Self::AllPackages
            | Self::TraceViewer
            | Self::Observatory
            | Self::Fastify
            | Self::KubernetesModels
            | Self::Nginx
            | Self::CargoDeny
            | Self::CargoCycloneDx
            | Self::Promtool
            | Self::Faketime
            | Self::Root => Vec::new(),
        }
    }
}

/// For a program that fails even where it is only asked for its help.
fn is_in_path(name: &str) -> bool {
    runs("sh", &["-c", &format!("command -v {name}")])
}

fn runs(name: &str, arguments: &[&str]) -> bool {
    command_output(name, arguments).is_some()
}

fn pod_sandbox() -> Vec<String> {
    let mut packages = unless(runs("nft", &["--version"]), &["nftables"]);
    packages.extend(unless(runs("ip", &["-Version"]), &["iproute2"]));
    packages.extend(unless(runs("bwrap", &["--version"]), &["bubblewrap"]));
    packages
}

fn chromium() -> Vec<String> {
    let mut packages = unless(
        has_arial(),
        &["fontconfig", "fonts-liberation", "fonts-noto-color-emoji"],
    );
    packages.extend(unless(
        runs("chromium-headless-shell", &["--version"]),
        &["chromium-headless-shell"],
    ));
    packages
}

fn has_arial() -> bool {
    command_output("fc-match", &["--format=%{family}", "Arial"])
        .is_some_and(|family| family.starts_with("Liberation Sans") || family.starts_with("Arial"))
}

/// The library of clamd, whose package is named after its version. The program itself is fetched without its
/// package, which brings a service along that would fetch signatures from then on.
fn scanner_libraries() -> Vec<String> {
    let depends = program("apt-cache", &["depends", "clamav-daemon"]).output();
    let said = depends.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into(),
    );
    let library = said.split_whitespace().find(|word| word.starts_with("libclamav"));
    let is_installed = |package: &str| {
        command_output(
            "dpkg-query",
            &["--show", "--showformat=${db:Status-Status}", package],
        )
        .is_some_and(|status| status == "installed")
    };
    match library {
        Some(library) if is_installed(library) => Vec::new(),
        Some(library) => vec![library.to_owned()],
        // Package lists that were never fetched, or were thrown away.
        None => vec!["libclamav-dev".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_root_can_install_is_named_with_the_command() {
        assert!(none_missing(&[]).is_ok());
        let refused = none_missing(&["chromium-headless-shell".to_owned(), "spamassassin".to_owned()]);
        let said = refused.expect_err("two are missing").to_string();
        assert!(
            said.ends_with(
                "sudo apt-get install --no-install-recommends chromium-headless-shell spamassassin"
            ),
            "{said}"
        );
    }

    #[test]
    fn to_run_the_site_no_tool_needs_anything_of_the_system_but_pip() {
        for tool in [Tool::NatsServer, Tool::SitePackages, Tool::TraceViewer] {
            let packages = tool.packages();
            assert!(packages.iter().all(|name| name == "python3-pip"), "{packages:?}");
        }
    }
}
