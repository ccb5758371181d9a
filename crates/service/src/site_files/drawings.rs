//! Drawings (SVG). A drawing opened alone may use only its own inline styles.

use std::{collections::HashMap, fs, path::Path};

use anyhow::Context;
use axum::http::HeaderValue;

use crate::site_files::content_security_policy;

const START: &str = "<style>";
const END: &str = "</style>";

/// Policies of drawings with inline styles, by path.
///
/// # Errors
///
/// If a drawing cannot be read.
pub fn policies(folder: &Path, files: &[String]) -> anyhow::Result<HashMap<String, HeaderValue>> {
    let mut policies = HashMap::new();
    for path in files.iter().filter(|path| path.ends_with(".svg")) {
        let file = folder.join(path.trim_start_matches('/'));
        let drawing =
            fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        if let Some(policy) = content_security_policy::of_drawing(styles(&drawing)) {
            policies.insert(path.clone(), policy);
        }
    }
    Ok(policies)
}

fn styles(drawing: &str) -> impl Iterator<Item = &str> {
    let after_starts = drawing.split(START).skip(1);
    after_starts.filter_map(|text| text.split_once(END).map(|(style, _)| style))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_style_of_a_drawing_is_found() {
        let drawing = "<svg><style>a{}</style><g>text</g><style>b{}</style><style>open</svg>";
        assert_eq!(styles(drawing).collect::<Vec<_>>(), ["a{}", "b{}"]);
        assert_eq!(styles("<svg/>").count(), 0);
    }
}
