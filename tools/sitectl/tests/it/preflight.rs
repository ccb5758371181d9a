//! `sitectl preflight`.

use std::fs;

use crate::tool::{told, told_in_part};

const FILLED_IN: &str = "
kind: ConfigMap
data:
  SITE_URL: https://www.company.com # for example, ours
---
kind: Deployment
spec:
  image: registry.company.com/site/gateway@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
";

#[test]
fn placeholders_that_are_left_are_named() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("rendered.yaml");
    let overlay = file.display().to_string();
    fs::write(&file, FILLED_IN)?;
    assert!(told(&["preflight", &overlay], &[])?.contains("placeholders  none"));

    let (chosen, none_chosen) = (
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "0".repeat(64),
    );
    for (written, placeholder, named) in [
        ("www.company.com", "www.example.com", " https://www.example.com "),
        (
            "registry.company.com",
            "registry.example",
            " registry.example/site/gateway@sha256:9f86",
        ),
        (chosen, &none_chosen, "/site/gateway@sha256:0000"),
    ] {
        fs::write(&file, FILLED_IN.replace(written, placeholder))?;
        let (table, complaint) = told_in_part(&["preflight", &overlay], &[])?;
        assert!(
            table.contains(named) && complaint.contains("Wrong: 1 of 1"),
            "{table}"
        );
    }
    Ok(())
}
