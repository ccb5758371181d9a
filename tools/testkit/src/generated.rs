//! Committed documents that `cargo xtask generate` writes.

use std::{env, fs};

use anyhow::{Context, ensure};

use crate::root;

/// Fails if a committed file is stale. Writes it if `GENERATE` is set.
pub fn ensure_current(file: &str, made: &str) -> anyhow::Result<()> {
    let path = root().join(file);
    if env::var_os("GENERATE").is_some() {
        fs::write(&path, made)?;
    }
    let is_current = fs::read_to_string(&path).is_ok_and(|committed| committed == made);
    ensure!(is_current, "{file} is stale; run: cargo xtask generate");
    Ok(())
}

/// Same as [`ensure_current`], for the table between `generated: …` and `end of …`.
pub fn ensure_table_is_current(page: &str, name: &str, table: &str) -> anyhow::Result<()> {
    let (before, _, after) = parts(page, name)?;
    ensure_current(page, &format!("{before}{table}{after}"))
}

/// The committed table.
pub fn table(page: &str, name: &str) -> anyhow::Result<String> {
    Ok(parts(page, name)?.1)
}

fn parts(page: &str, name: &str) -> anyhow::Result<(String, String, String)> {
    let text = fs::read_to_string(root().join(page))?;
    let (begin, end) = (
        format!("<!-- generated: {name} -->\n\n"),
        format!("\n<!-- end of {name} -->"),
    );
    let begins = text.find(&begin).map(|at| at + begin.len());
    let begins = begins.with_context(|| format!("{page} has no place for {name}"))?;
    let ends = text
        .find(&end)
        .with_context(|| format!("{name} does not end in {page}"))?;
    Ok((
        text[..begins].to_owned(),
        text[begins..ends].to_owned(),
        text[ends..].to_owned(),
    ))
}
