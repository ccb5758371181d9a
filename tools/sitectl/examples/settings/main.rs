//! Writes the table of settings into a page: `cargo run -p sitectl --example settings -- docs/operations.md`.

mod table;

use std::{env, fs};

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let page = env::args_os()
        .nth(1)
        .context("say which page, such as docs/operations.md")?;
    let written = table::within(&fs::read_to_string(&page)?)?;
    Ok(fs::write(page, written)?)
}
