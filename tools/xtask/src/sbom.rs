//! `cargo xtask sbom`: what the images are made of, as CycloneDX.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use crate::{
    step::{empty_folder, program, root, run},
    tools::{self, Tool, cargo_cyclonedx, linter},
};

/// Both platforms of the images have the same dependencies.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";
const FRONT_ENDS: [&str; 3] = ["shell", "blog", "careers"];

/// Writes a bill of materials for each program and each front end to `target/sbom`, and checks them.
///
/// # Errors
///
/// Where a tool is missing, or a bill cannot be written or lacks something.
pub fn sbom() -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::SitePackages, Tool::Linters, Tool::CargoCycloneDx])?;
    let bills = root().join("target/sbom");
    empty_folder(&bills)?;
    of_programs(&bills)?;
    of_front_ends(&bills)?;
    run(
        "Checking bills of materials",
        &mut linter("python", &["images/check_sbom.py", "target/sbom"]),
        "Mend what stands above.",
    )
}

/// Of the services and of the operator's tool.
fn of_programs(bills: &Path) -> anyhow::Result<()> {
    let mut write = program(
        cargo_cyclonedx(),
        &[
            "cyclonedx",
            "--quiet",
            "--format",
            "json",
            "--spec-version",
            "1.5",
        ],
    );
    write.args(["--no-build-deps", "--target", PLATFORM]);
    run(
        "Writing the programs' bills of materials",
        &mut write,
        "See above.",
    )?;
    // Each package gets one, whatever is asked for.
    let services = written(&root().join("services"))?;
    for bill in services
        .into_iter()
        .chain([root().join("tools/sitectl/sitectl.cdx.json")])
    {
        fs::rename(&bill, bills.join(bill.file_name().unwrap_or_default()))?;
    }
    for bill in [written(&root().join("crates"))?, written(&root())?].concat() {
        fs::remove_file(bill)?;
    }
    Ok(())
}

/// The bills of materials in the folders of a folder.
fn written(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for package in fs::read_dir(folder)?
        .flatten()
        .filter(|entry| entry.path().is_dir())
    {
        for file in fs::read_dir(package.path())?.flatten() {
            if file.file_name().to_string_lossy().ends_with(".cdx.json") {
                found.push(file.path());
            }
        }
    }
    Ok(found)
}

/// What each is built from; what merely builds it is marked as such.
fn of_front_ends(bills: &Path) -> anyhow::Result<()> {
    for name in FRONT_ENDS {
        let mut write = program("npm", &["sbom", "--silent", "--package-lock-only"]);
        write
            .args(["--sbom-format", "cyclonedx", "--workspace"])
            .arg(format!("frontends/{name}"))
            .stdout(File::create(bills.join(format!("web-{name}.cdx.json")))?);
        run(
            &format!("Writing the bill of materials of {name}"),
            &mut write,
            "npm 10 or newer is needed.",
        )?;
    }
    Ok(())
}
