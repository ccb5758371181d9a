//! `sitectl preflight`.

use std::fs;

use crate::tool::{assert_says, told, told_in_part};

const DIGEST: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

#[test]
fn remaining_placeholders_are_named() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("rendered.yaml");
    let overlay = file.display().to_string();
    let filled_in = format!(
        "kind: ConfigMap\ndata:\n  SITE_URL: https://www.company.com # for example, ours\n---\n\
         kind: Deployment\nspec:\n  image: registry.company.com/site/gateway@sha256:{DIGEST}\n"
    );
    fs::write(&file, &filled_in)?;
    assert_says(&told(&["preflight", &overlay], &[])?, &["placeholders  none"]);
    let none_chosen = "0".repeat(64);
    for (written, placeholder, named) in [
        ("www.company.com", "www.example.com", " https://www.example.com "),
        (
            "registry.company.com",
            "registry.example",
            " registry.example/site/gateway@sha256:9f86",
        ),
        (DIGEST, &none_chosen, "/site/gateway@sha256:0000"),
    ] {
        fs::write(&file, filled_in.replace(written, placeholder))?;
        let (table, complaint) = told_in_part(&["preflight", &overlay], &[])?;
        assert_says(&table, &[named]);
        assert_says(&complaint, &["Wrong: 1 of 1"]);
    }
    Ok(())
}
