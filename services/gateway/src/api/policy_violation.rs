//! Reports of the Content Security Policy: which directive refused what kind of thing. Of the addresses in them, which can
//! hold a visitor's link, nothing is kept.

use http::Uri;
use opentelemetry::KeyValue;
use serde::Deserialize;
use site_service::metrics;
use utoipa::ToSchema;

/// The most violations that are taken from one request.
pub const MAX_VIOLATIONS: usize = 20;
/// The type of a report about this policy.
const VIOLATION: &str = "csp-violation";
/// The directives of our policy, and those that fall back to them: a metric has no label that somebody made up.
const DIRECTIVES: [&str; 17] = [
    "base-uri",
    "connect-src",
    "default-src",
    "font-src",
    "form-action",
    "frame-ancestors",
    "frame-src",
    "img-src",
    "manifest-src",
    "media-src",
    "object-src",
    "require-trusted-types-for",
    "script-src",
    "style-src",
    "trusted-types",
    "worker-src",
    OTHER,
];
const OTHER: &str = "other";
/// What extensions of the visitor's browser put into a page is counted, and is no word to the operators.
const EXTENSION: &str = "extension";

/// One report of those that browsers gather (W3C Reporting API)
#[derive(Deserialize, ToSchema)]
pub struct QueuedReport {
    /// `csp-violation`, or what is not counted
    #[serde(rename = "type")]
    kind: String,
    /// What was refused
    body: Option<serde_json::Value>,
}

/// A report as browsers send it that do not gather them (Content Security Policy Level 2)
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct LegacyReport {
    /// What was refused
    csp_report: LegacyBody,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
struct LegacyBody {
    document_uri: Option<String>,
    blocked_uri: Option<String>,
    effective_directive: Option<String>,
    /// All that older browsers have
    violated_directive: Option<String>,
}

#[derive(Deserialize)]
struct QueuedBody {
    #[serde(rename = "documentURL")]
    document_url: Option<String>,
    #[serde(rename = "blockedURL")]
    blocked_url: Option<String>,
    #[serde(rename = "effectiveDirective")]
    effective_directive: String,
}

/// What is known of a violation: words of ours.
#[derive(Debug, PartialEq, Eq)]
pub struct PolicyViolation {
    pub directive: &'static str,
    pub blocked: &'static str,
}

/// The violations in a body of gathered reports; none where it is not one.
pub fn read_queued(body: &[u8]) -> Option<Vec<PolicyViolation>> {
    let reports: Vec<QueuedReport> = serde_json::from_slice(body).ok()?;
    let bodies = reports
        .into_iter()
        .filter(|report| report.kind == VIOLATION)
        .filter_map(|report| report.body);
    bodies
        .take(MAX_VIOLATIONS)
        .map(|body| serde_json::from_value(body).ok())
        .map(|body: Option<QueuedBody>| {
            let body = body?;
            let (blocked, document) = (body.blocked_url.as_deref(), body.document_url.as_deref());
            Some(PolicyViolation::new(&body.effective_directive, blocked, document))
        })
        .collect()
}

/// The violation in a body of the older form; none where it is not one.
pub fn read_legacy(body: &[u8]) -> Option<Vec<PolicyViolation>> {
    let LegacyReport { csp_report: body } = serde_json::from_slice(body).ok()?;
    let directive = body.effective_directive.or(body.violated_directive)?;
    let (blocked, document) = (body.blocked_uri.as_deref(), body.document_uri.as_deref());
    Some(vec![PolicyViolation::new(&directive, blocked, document)])
}

/// Counts a violation.
pub fn count(violation: &PolicyViolation) {
    let PolicyViolation { directive, blocked } = *violation;
    metrics::meter()
        .u64_counter("site.policy.violations")
        .with_unit("{violation}")
        .with_description("What the Content Security Policy kept browsers from loading or running")
        .build()
        .add(
            1,
            &[
                KeyValue::new("directive", directive),
                KeyValue::new("blocked", blocked),
            ],
        );
    if blocked != EXTENSION {
        tracing::warn!(
            directive,
            blocked,
            "the content security policy kept something from a page"
        );
    }
}

impl PolicyViolation {
    fn new(directive: &str, blocked: Option<&str>, document: Option<&str>) -> Self {
        // Older browsers add the directive's sources.
        let name = directive.split(' ').next().unwrap_or_default();
        let name = name.trim_end_matches("-elem").trim_end_matches("-attr");
        Self {
            directive: DIRECTIVES
                .into_iter()
                .find(|known| *known == name)
                .unwrap_or(OTHER),
            blocked: kind_of(blocked.unwrap_or_default(), document.unwrap_or_default()),
        }
    }
}

/// What kind of thing was refused: of an address, only whether it is of the site.
fn kind_of(blocked: &str, document: &str) -> &'static str {
    let scheme = blocked.split(':').next().unwrap_or_default();
    match scheme {
        "inline" => "inline",
        "eval" | "wasm-eval" => "eval",
        "trusted-types-policy" | "trusted-types-sink" => "trusted-types",
        "data" => "data",
        "blob" => "blob",
        "http" | "https" if is_same_origin(blocked, document) => "site",
        "http" | "https" => "elsewhere",
        other if other.ends_with("-extension") => EXTENSION,
        _ => OTHER,
    }
}

/// Not so where either has no origin.
fn is_same_origin(blocked: &str, document: &str) -> bool {
    let (blocked, document) = (origin_of(blocked), origin_of(document));
    blocked.is_some() && blocked == document
}

fn origin_of(address: &str) -> Option<(String, String)> {
    let uri: Uri = address.parse().ok()?;
    Some((uri.scheme_str()?.to_owned(), uri.authority()?.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Option<&str> = Some("https://oculant.example/?newsletter=confirm&token=secret");

    fn violation(directive: &str, blocked: &str) -> (&'static str, &'static str) {
        let violation = PolicyViolation::new(directive, Some(blocked), PAGE);
        (violation.directive, violation.blocked)
    }

    #[test]
    fn of_what_was_refused_only_its_kind_is_kept() {
        for (blocked, kind) in [
            ("inline", "inline"),
            ("eval", "eval"),
            ("trusted-types-sink", "trusted-types"),
            ("data", "data"),
            ("data:text/javascript,1", "data"),
            ("https://oculant.example/assets/x.js?asha@example.org", "site"),
            ("https://oculant.example.evil.example/x.js", "elsewhere"),
            ("https", "elsewhere"),
            ("moz-extension://1234/content.js", "extension"),
            ("asha@example.org", "other"),
            ("", "other"),
        ] {
            assert_eq!(violation("script-src-elem", blocked), ("script-src", kind));
        }
    }

    #[test]
    fn what_has_no_origin_is_not_the_sites_where_the_page_has_none_either() {
        assert_eq!(
            PolicyViolation::new("font-src", Some("https"), None).blocked,
            "elsewhere"
        );
    }

    #[test]
    fn a_directive_that_is_none_is_not_repeated() {
        assert_eq!(
            violation("style-src 'self' 'sha256-abc='", "inline").0,
            "style-src"
        );
        assert_eq!(violation("style-src-attr", "inline").0, "style-src");
        assert_eq!(violation("asha@example.org", "inline").0, "other");
        assert_eq!(violation("", "inline").0, "other");
    }

    #[test]
    fn other_reports_are_passed_over_and_a_broken_one_is_none() {
        let read = |body: &str| read_queued(body.as_bytes());
        assert_eq!(
            read(r#"[{"type":"deprecation","body":{"id":"x"}}]"#),
            Some(Vec::new())
        );
        assert_eq!(read("[]"), Some(Vec::new()));
        for broken in [
            "",
            "{}",
            "[1]",
            r#"[{"type":"csp-violation","body":{"effectiveDirective":1}}]"#,
        ] {
            assert_eq!(read(broken), None, "{broken}");
        }
        assert_eq!(read_legacy(br#"{"csp-report":{}}"#), None);
        assert_eq!(read_legacy(b"[]"), None);
    }
}
