//! Content Security Policies of pages, and of files opened alone.

use anyhow::Context;
use axum::http::HeaderValue;
use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::site_files::site::RoutesFile;

/// Policy of answers other than pages: nothing may be loaded or framed.
pub const DENY_ALL: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// Policy of pictures and films. For a file opened alone, the browser generates a page that loads the file.
const MEDIA: HeaderValue =
    HeaderValue::from_static("default-src 'none'; img-src 'self'; media-src 'self'; frame-ancestors 'none'");

/// # Errors
///
/// If a source contains characters that are invalid in a header.
pub fn of_pages(routes: &RoutesFile) -> anyhow::Result<HeaderValue> {
    let policy = [
        "default-src 'none'".to_owned(),
        format!("script-src 'self'{}", listed(&routes.script_hashes)),
        format!("style-src 'self'{}", listed(&routes.style_hashes)),
        "img-src 'self'".to_owned(),
        "font-src 'self'".to_owned(),
        "connect-src 'self'".to_owned(),
        "media-src 'self'".to_owned(),
        "manifest-src 'self'".to_owned(),
        match &routes.frame_sources[..] {
            [] => "frame-src 'none'".to_owned(),
            sources => format!("frame-src {}", sources.join(" ")),
        },
        "base-uri 'none'".to_owned(),
        "form-action 'self'".to_owned(),
        "frame-ancestors 'none'".to_owned(),
        "require-trusted-types-for 'script'".to_owned(),
        // A reloaded remote creates its policy again.
        match &routes.trusted_type_policies[..] {
            [] => "trusted-types 'none'".to_owned(),
            names => format!("trusted-types {} 'allow-duplicates'", names.join(" ")),
        },
    ];
    HeaderValue::from_str(&policy.join("; ")).context("its hashes or sources are no header")
}

/// Policy of a drawing opened alone; `None` if it has no styles.
pub fn of_drawing<'a>(styles: impl Iterator<Item = &'a str>) -> Option<HeaderValue> {
    let hash = |style| format!("sha256-{}", STANDARD.encode(Sha256::digest(style)));
    let hashes: Vec<String> = styles.map(hash).collect();
    let sources = listed(&hashes);
    let policy = format!("default-src 'none'; style-src{sources}; frame-ancestors 'none'");
    (!hashes.is_empty()).then(|| HeaderValue::try_from(policy).ok())?
}

fn listed(hashes: &[String]) -> String {
    hashes.iter().map(|hash| format!(" '{hash}'")).collect()
}

/// Policy of files other than pages and drawings with styles.
pub fn of_file(path: &str) -> HeaderValue {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("avif" | "jpg" | "mp4" | "png" | "webm" | "webp") => MEDIA,
        _ => DENY_ALL,
    }
}
