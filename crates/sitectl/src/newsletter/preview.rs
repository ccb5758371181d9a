//! `sitectl newsletter preview`.

use std::{fs, path::Path};

use anyhow::Context as _;
use serde_json::json;

use super::post::Post;
use crate::output::print_output;

/// Shows what an issue would say.
///
/// # Errors
///
/// If the file for its HTML cannot be written.
pub fn preview(post: &Post, html: Option<&Path>, json: bool) -> anyhow::Result<()> {
    let issue = &post.issue;
    if let Some(file) = html {
        let page = format!("<!doctype html>\n<meta charset=\"utf-8\">\n{}", issue.html);
        fs::write(file, page).with_context(|| format!("{} cannot be written", file.display()))?;
    }
    let document = json!({ "issue": issue, "remarks": post.remarks });
    let mut lines = vec![
        format!("Name:     {}", issue.name),
        format!("Subject:  {}", issue.subject),
        format!("Preview:  {}", issue.preview),
        format!("On the web: {}", issue.web.as_deref().unwrap_or("nowhere")),
        format!(
            "Size:     {} bytes of HTML, {} of text",
            issue.html.len(),
            issue.text.len()
        ),
    ];
    lines.extend(post.remarks.iter().cloned());
    lines.extend([String::new(), issue.text.clone()]);
    print_output(json, &document, lines)
}
