//! The links of an issue. Those that lead to our own site say so, by its campaign parameters; no other is changed, and none is
//! led through a counter.

use anyhow::{Context as _, bail, ensure};
use url::Url;

/// How the links of one issue are written.
pub struct SiteLinks {
    site: Url,
    campaign: String,
}

impl SiteLinks {
    /// The links of the issue of this name.
    pub fn new(site: Url, name: &str) -> Self {
        Self {
            site,
            campaign: name.to_owned(),
        }
    }

    /// The address of a page of our own site.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn web(&self, path: &str) -> anyhow::Result<String> {
        self.link(path)
    }

    /// A link as it stands in the mail.
    ///
    /// # Errors
    ///
    /// If it is none that a mail program follows.
    pub fn link(&self, written: &str) -> anyhow::Result<String> {
        let mut link = self.absolute(written)?;
        match link.scheme() {
            "mailto" | "tel" => {}
            "http" | "https" if self.is_ours(&link) => {
                link.query_pairs_mut()
                    .append_pair("utm_source", "newsletter")
                    .append_pair("utm_medium", "email")
                    .append_pair("utm_campaign", &self.campaign);
            }
            "http" | "https" => {}
            _ => bail!("the link {written} leads nowhere that a mail program follows"),
        }
        Ok(link.into())
    }

    /// The address of a picture.
    ///
    /// # Errors
    ///
    /// If it lies with somebody else, who would hear of each reader.
    pub fn picture(&self, written: &str) -> anyhow::Result<String> {
        let picture = self.absolute(written)?;
        ensure!(
            self.is_ours(&picture),
            "the picture {written} is not hosted by the site, and whoever hosts it would hear of each reader"
        );
        Ok(picture.into())
    }

    fn absolute(&self, written: &str) -> anyhow::Result<Url> {
        self.site
            .join(written)
            .with_context(|| format!("the link {written} leads nowhere"))
    }

    fn is_ours(&self, link: &Url) -> bool {
        link.origin() == self.site.origin()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_our_site_name_the_issue_and_no_other_is_changed() -> anyhow::Result<()> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "smart-home");
        let campaign = "utm_source=newsletter&utm_medium=email&utm_campaign=smart-home";
        for (written, link) in [
            ("/contact", format!("https://oculant.example/contact?{campaign}")),
            (
                "https://oculant.example/a?b=c#d",
                format!("https://oculant.example/a?b=c&{campaign}#d"),
            ),
            ("https://example.org/x?y", "https://example.org/x?y".to_owned()),
            (
                "mailto:hello@oculant.example",
                "mailto:hello@oculant.example".to_owned(),
            ),
        ] {
            assert_eq!(links.link(written)?, link);
        }
        assert!(links.link("javascript:alert(1)").is_err());
        assert!(links.picture("https://example.org/x.png").is_err());
        assert_eq!(links.picture("/x.png")?, "https://oculant.example/x.png");
        Ok(())
    }
}
