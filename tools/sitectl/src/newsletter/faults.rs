//! Faults of an issue that readers would see: missing pictures, dead links, footnotes without text, and unfilled placeholders.

use std::{collections::BTreeMap, future, sync::LazyLock, time::Duration};

use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use regex_lite::Regex;
use tokio::time::timeout;
use url::Url;

use crate::http_client::http_client;

/// Placeholders of newsletter tools: `{{ name }}`, `{% if %}`, `<%= name %>`, `*|NAME|*` (emphasis in Markdown), `${name}`,
/// `{$name}`, `%NAME%`, `%%Name%%`, `%recipient.name%`, `[[name]]`, `[First Name]` and `{name}`; and a footnote without text.
static UNFILLED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"\{\{[^{}\n]*[^{}\s][^{}\n]*\}\}|\{%[^\n]+?%\}|<%[^\n]+?%>|\*?\|[A-Z][A-Z0-9_:]+\|\*?|\$\{\s*[A-Za-z][^}\n]*\}|\{[$!][A-Za-z][^}\n]*\}|\B%[A-Za-z_][A-Za-z_.]+%\B|\[\[[A-Za-z][A-Za-z0-9_. ]*\]\]|(?i:\[(?:(?:first|last|full|f|l)[ _-]?)?name(?:,[^\]\n]*)?\])|(?:^|[\s(,"“'‘])\{[A-Za-z][A-Za-z0-9_.]+\}|\\?\[\^[^\]\s]+\]"#;
    Regex::new(pattern).expect("a valid pattern")
});
/// Timeout of each link, and number of links that are checked at once.
const TIMEOUT: Duration = Duration::from_secs(10);
const AT_ONCE: usize = 16;

/// Faults, and links to check.
#[derive(Debug, Default)]
pub struct Findings {
    pub faults: Vec<String>,
    /// Links to check, and the fault to report if the link is dead.
    links: BTreeMap<Url, String>,
}

impl Findings {
    pub fn check(&mut self, markdown: &str) {
        for found in UNFILLED.find_iter(markdown) {
            let before = |c: char| c.is_whitespace() || "(,\"“'‘".contains(c);
            let found = found.as_str().trim_start_matches(before);
            if found.starts_with("[^") {
                self.faults.push(format!("the footnote {found} has no text"));
            } else if !found.starts_with('\\') {
                let emphasis = if found.starts_with('|') { "*" } else { "" };
                self.faults.push(format!(
                    "nothing fills in the placeholder {emphasis}{found}{emphasis}"
                ));
            }
        }
    }

    /// Adds a link to check, and the fault to report if it is dead.
    pub fn check_link(&mut self, url: &Url, fault: String) {
        let mut page = url.clone();
        page.set_fragment(None);
        self.links.insert(page, fault);
    }

    /// Requests each link, and returns all faults. Only 404 and 410 are faults: a link may be unreachable from here.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up.
    pub async fn into_faults(self) -> anyhow::Result<Vec<String>> {
        let client = http_client()?;
        let checks = stream::iter(self.links).map(async |(url, fault)| {
            let response = client.get(url.as_str().parse().ok()?);
            let status = timeout(TIMEOUT, response).await.ok()?.ok()?.status();
            let is_dead = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE);
            is_dead.then(|| format!("{fault}: it answers {status}"))
        });
        let dead = checks.buffered(AT_ONCE).filter_map(future::ready);
        let faults = stream::iter(self.faults).chain(dead);
        Ok(faults.collect().await)
    }
}
