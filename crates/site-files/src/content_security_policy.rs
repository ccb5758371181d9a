//! Content Security Policies: what a browser may load and run for a page, and for a file that is opened alone.

use anyhow::Context;
use axum::http::HeaderValue;
use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

/// For answers that are no page: nothing may be loaded or framed.
pub const DENY_ALL: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// For pictures and films that are opened alone: the browser shows them on a page of its own.
const MEDIA: HeaderValue =
    HeaderValue::from_static("default-src 'none'; img-src 'self'; media-src 'self'; frame-ancestors 'none'");

/// What pages hold that their policy has to name.
pub struct PageSources {
    pub script_hashes: Vec<String>,
    pub style_hashes: Vec<String>,
    pub frame_sources: Vec<String>,
    /// Names of policies of Trusted Types.
    pub trusted_type_policies: Vec<String>,
}

impl PageSources {
    /// The policy of all pages.
    ///
    /// # Errors
    ///
    /// If a source holds what no header can.
    pub fn policy(&self) -> anyhow::Result<HeaderValue> {
        let policy = [
            "default-src 'none'".to_owned(),
            format!("script-src 'self'{}", listed(&self.script_hashes)),
            format!("style-src 'self'{}", listed(&self.style_hashes)),
            "img-src 'self'".to_owned(),
            "font-src 'self'".to_owned(),
            "connect-src 'self'".to_owned(),
            "media-src 'self'".to_owned(),
            "manifest-src 'self'".to_owned(),
            match &self.frame_sources[..] {
                [] => "frame-src 'none'".to_owned(),
                sources => format!("frame-src {}", sources.join(" ")),
            },
            "base-uri 'none'".to_owned(),
            "form-action 'self'".to_owned(),
            "frame-ancestors 'none'".to_owned(),
            "require-trusted-types-for 'script'".to_owned(),
            // A remote that is loaded anew makes its policy anew.
            match &self.trusted_type_policies[..] {
                [] => "trusted-types 'none'".to_owned(),
                names => format!("trusted-types {} 'allow-duplicates'", names.join(" ")),
            },
        ];
        HeaderValue::from_str(&policy.join("; ")).context("its hashes or sources are no header")
    }
}

/// The policy of a drawing that is opened alone, and holds these styles; none where it holds none.
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

/// The policy of a file that is neither a page nor a drawing with styles, by its name.
pub fn of_file(path: &str) -> HeaderValue {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("avif" | "jpg" | "mp4" | "png" | "webm" | "webp") => MEDIA,
        _ => DENY_ALL,
    }
}
