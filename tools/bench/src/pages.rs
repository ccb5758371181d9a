//! `bench pages`: files of the built site.

use std::fs;

use anyhow::Context;
use testkit::{Ports, Stack, root};

use crate::{
    Turns,
    compare::{Contender, compare},
    peers::Peer,
    table::Row,
    wrk::Requests,
};

const LEAST: f64 = 0.7;

/// Measures file requests. Both programs send the build's gzip file.
///
/// # Errors
///
/// If the site is not built, or a program does not start.
pub async fn pages(turns: Turns) -> anyhow::Result<Vec<Row>> {
    let stack = Stack::start(Ports::free()?, &[]).await?;
    let axum = Peer::axum(&stack).await?;
    let script = largest_script()?;
    let mut rows = Vec::new();
    for (case, path) in [("home page", "/"), ("largest script", script.as_str())] {
        let ours = Contender {
            name: "gateway",
            url: stack.site(),
            processes: vec![stack.service("gateway")?],
            least: Some(LEAST),
        };
        let contenders = [axum.contender(None), ours];
        rows.extend(compare(case, &contenders, Requests::Page(path), 64, turns).await?);
    }
    stack.stop().await?;
    Ok(rows)
}

fn largest_script() -> anyhow::Result<String> {
    let files = fs::read_dir(root().join("frontends/dist/assets")).context("the site is not built")?;
    let scripts = files
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|end| end == "js"));
    let largest = scripts.max_by_key(|file| file.metadata().map_or(0, |file| file.len()));
    let name = largest.context("the site has no scripts")?.file_name();
    Ok(format!("/assets/{}", name.to_string_lossy()))
}
