//! The links and pictures of an issue. Those that lead to our own site say so, by its campaign parameters; no other is changed, and none
//! is led through a counter.

use anyhow::{Context as _, ensure};
use url::Url;

/// How the links of one issue are written.
pub struct Links {
    /// Where it is read, too: a page of the blog, or else the site.
    page: Url,
    is_of_blog: bool,
    campaign: String,
}

impl Links {
    /// The links of the issue of this name, which is the post of this id, if it is one.
    ///
    /// # Errors
    ///
    /// If the address of the site or the id is none.
    pub fn new(site_url: &str, name: &str, post: Option<&str>) -> anyhow::Result<Self> {
        let path = post.map_or_else(|| "/".to_owned(), |id| format!("/blog/{id}"));
        let page = Url::parse(site_url).and_then(|site| site.join(&path));
        Ok(Self {
            page: page.context("SITE_URL or its id is none")?,
            is_of_blog: post.is_some(),
            campaign: name.to_owned(),
        })
    }

    /// The page of the blog, as a link in the mail.
    pub fn web(&self) -> Option<String> {
        self.is_of_blog.then(|| self.page())
    }

    /// The same, or the site.
    pub fn page(&self) -> String {
        self.with_campaign(self.page.clone())
    }

    /// A link as it stands in the mail.
    ///
    /// # Errors
    ///
    /// If it is no address.
    pub fn link(&self, written: &str) -> anyhow::Result<String> {
        let link = self.page.join(written);
        let link = link.with_context(|| format!("the link {written} is no address"))?;
        Ok(self.with_campaign(link))
    }

    /// The address of a picture; none of a drawing of the blog, whose address changes with each build.
    ///
    /// # Errors
    ///
    /// If it lies with somebody else, who would hear of each reader.
    pub fn picture(&self, written: &str) -> anyhow::Result<Option<String>> {
        if self.is_of_blog && !written.contains([':', '/']) {
            return Ok(None);
        }
        let picture = self.page.join(written).ok();
        let picture = picture.filter(|picture| self.is_ours(picture));
        ensure!(
            picture.is_some(),
            "the picture {written} is not hosted by the site, and whoever hosts it would hear of each reader"
        );
        Ok(picture.map(String::from))
    }

    fn is_ours(&self, link: &Url) -> bool {
        link.origin() == self.page.origin()
    }

    fn with_campaign(&self, mut link: Url) -> String {
        if self.is_ours(&link) {
            link.query_pairs_mut()
                .append_pair("utm_source", "newsletter")
                .append_pair("utm_medium", "email")
                .append_pair("utm_campaign", &self.campaign);
        }
        link.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAMPAIGN: &str = "utm_source=newsletter&utm_medium=email&utm_campaign=smart-home";

    #[test]
    fn links_to_our_site_name_the_issue_and_no_other_is_changed() -> anyhow::Result<()> {
        let links = Links::new("https://oculant.example", "smart-home", None)?;
        for (written, link) in [
            ("/contact", format!("https://oculant.example/contact?{CAMPAIGN}")),
            (
                "https://oculant.example/a?b=c#d",
                format!("https://oculant.example/a?b=c&{CAMPAIGN}#d"),
            ),
            ("https://example.org/x?y", "https://example.org/x?y".to_owned()),
            (
                "mailto:hello@oculant.example",
                "mailto:hello@oculant.example".to_owned(),
            ),
            ("tel:+911234567", "tel:+911234567".to_owned()),
        ] {
            assert_eq!(links.link(written)?, link);
        }
        assert!(links.link("https://").is_err());
        assert!(links.picture("https://example.org/x.png").is_err());
        let picture = "https://oculant.example/x.png";
        assert_eq!(links.picture("/x.png")?.as_deref(), Some(picture));
        assert_eq!(links.web(), None);
        Ok(())
    }

    #[test]
    fn links_of_a_post_are_seen_from_its_page() -> anyhow::Result<()> {
        let links = Links::new("https://oculant.example", "smart-home", Some("smart-home"))?;
        for (written, path) in [
            ("#zones", format!("/blog/smart-home?{CAMPAIGN}#zones")),
            ("future-trends", format!("/blog/future-trends?{CAMPAIGN}")),
            ("/careers", format!("/careers?{CAMPAIGN}")),
        ] {
            assert_eq!(links.link(written)?, format!("https://oculant.example{path}"));
        }
        assert_eq!(links.picture("house.svg")?, None);
        Ok(())
    }
}
