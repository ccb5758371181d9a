//! `sitectl preflight`: placeholders left in an overlay.

use std::{collections::BTreeSet, path::PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;
use regex_lite::Regex;
use tokio::process::Command;

use crate::finding::{self, Finding};

/// Pattern of names reserved for examples (RFC 2606), the value `example`, and an image digest of zeros.
const PLACEHOLDER: &str =
    r#"(?m)[^\s"'<>#]*(\.example|\bexample\.(com|net|org))\b[^\s"'<>#]*|: example$|\S*sha256:0{64}"#;

#[derive(Args, Debug)]
pub struct PreflightArgs {
    /// Folder of the overlay, or its rendered file
    overlay: PathBuf,
    /// Program that renders the folder
    #[arg(long, default_value = "kubectl")]
    kubectl: PathBuf,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// # Errors
///
/// If the overlay does not render, or a placeholder is left.
pub async fn preflight(args: &PreflightArgs) -> anyhow::Result<()> {
    let rendered = rendered(args).await?;
    let placeholders = Regex::new(PLACEHOLDER)?;
    let found = placeholders.find_iter(&rendered);
    let found: BTreeSet<&str> = found
        .map(|found| found.as_str().trim_start_matches(": "))
        .collect();
    let wrong = |found: &str| Finding::wrong(found, "a placeholder", "replace it in the overlay");
    let mut findings: Vec<Finding> = found.into_iter().map(wrong).collect();
    if findings.is_empty() {
        findings.push(Finding::ok("placeholders", "none"));
    }
    finding::report(&findings, args.json)
}

async fn rendered(args: &PreflightArgs) -> anyhow::Result<String> {
    let overlay = args.overlay.display();
    if args.overlay.is_file() {
        let read = tokio::fs::read_to_string(&args.overlay).await;
        return read.with_context(|| format!("{overlay} cannot be read"));
    }
    let mut render = Command::new(&args.kubectl);
    let output = render.arg("kustomize").arg(&args.overlay).output().await;
    let output = output.with_context(|| format!("{} cannot be run (--kubectl)", args.kubectl.display()))?;
    let error = String::from_utf8_lossy(&output.stderr);
    let error = error.lines().last().unwrap_or_default();
    ensure!(output.status.success(), "{overlay} does not render: {error}");
    Ok(String::from_utf8(output.stdout)?)
}
