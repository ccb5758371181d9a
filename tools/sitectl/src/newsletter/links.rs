//! Links and pictures of an issue. Links to our site get campaign parameters; others are unchanged. None is tracked.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use url::Url;

use super::faults::Findings;

/// Folder of the blog's drawings, relative to a post.
const DRAWINGS: &str = "../src/pictures";

/// Rewrites the links of one issue.
pub struct Links {
    /// The blog post, or the site.
    page: Url,
    is_of_blog: bool,
    campaign: String,
    /// Folder of drawings, for a blog post.
    drawings: Option<PathBuf>,
}

impl Links {
    /// `post` is the id and the file of a blog post.
    ///
    /// # Errors
    ///
    /// If the address of the site or the id is invalid.
    pub fn new(site_url: &str, name: &str, post: Option<(&str, &Path)>) -> anyhow::Result<Self> {
        let path = post.map_or_else(|| "/".to_owned(), |(id, _)| format!("/blog/{id}"));
        let drawings = post.and_then(|(_, file)| Some(file.parent()?.join(DRAWINGS)));
        let page = Url::parse(site_url).and_then(|site| site.join(&path));
        Ok(Self {
            page: page.context("SITE_URL or its id is invalid")?,
            is_of_blog: post.is_some(),
            campaign: name.to_owned(),
            drawings: drawings.filter(|drawings| drawings.is_dir()),
        })
    }

    /// Link to the blog post.
    pub fn web(&self) -> Option<String> {
        self.is_of_blog.then(|| self.page())
    }

    /// Link to the blog post, or to the site.
    pub fn page(&self) -> String {
        self.with_campaign(self.page.clone())
    }

    /// Link for the mail. An invalid link is added as a fault, and stays unchanged.
    pub fn link(&self, written: &str, found: &mut Findings) -> String {
        let Some(link) = self.target(written) else {
            found.faults.push(format!("the link {written} leads nowhere"));
            return written.to_owned();
        };
        if link.scheme().starts_with("http") {
            found.check_link(&link, format!("the link {link} leads nowhere"));
        }
        self.with_campaign(link)
    }

    /// Address of a picture. `None` if it is missing, or is a drawing of the blog, whose address changes with each
    /// build.
    ///
    /// # Errors
    ///
    /// If another host serves the picture, because that host would learn of each reader.
    pub fn picture(&self, written: &str, found: &mut Findings) -> anyhow::Result<Option<Url>> {
        let drawings = self.drawings.as_ref();
        let drawings = drawings.filter(|_| !written.contains([':', '/']));
        let picture = self.target(written).filter(|_| drawings.is_none());
        if let Some(picture) = &picture {
            ensure!(
                self.is_ours(picture),
                "the picture {written} is not hosted by the site, so another host would learn of each reader"
            );
            found.check_link(picture, format!("the picture {picture} is missing"));
        } else if !drawings.is_some_and(|drawings| drawings.join(written).is_file()) {
            found.faults.push(format!("the picture {written} is missing"));
        }
        Ok(picture)
    }

    /// Target of a link. `None` for a link within the mail, because mail programs do not follow it.
    fn target(&self, written: &str) -> Option<Url> {
        let is_within_mail = written.starts_with('#') && !self.is_of_blog;
        let link = self.page.join(written).ok();
        link.filter(|link| match link.scheme() {
            "http" | "https" => !written.is_empty() && !is_within_mail,
            "mailto" | "tel" => !link.path().is_empty(),
            _ => false,
        })
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
    fn only_links_to_our_site_name_the_issue() -> anyhow::Result<()> {
        let links = Links::new("https://oculant.example", "smart-home", None)?;
        let mut found = Findings::default();
        for (written, link) in [
            ("/contact", format!("https://oculant.example/contact?{CAMPAIGN}")),
            (
                "https://oculant.example/a?b=c#d",
                format!("https://oculant.example/a?b=c&{CAMPAIGN}#d"),
            ),
        ] {
            assert_eq!(links.link(written, &mut found), link);
        }
        for other in [
            "https://example.org/x?y",
            "mailto:hello@oculant.example",
            "tel:+911234567",
        ] {
            assert_eq!(links.link(other, &mut found), other);
        }
        assert!(links.picture("https://example.org/x.png", &mut found).is_err());
        let picture = Url::parse("https://oculant.example/x.png")?;
        assert_eq!(links.picture("/x.png", &mut found)?, Some(picture));
        assert_eq!(found.faults, [""; 0]);
        Ok(())
    }

    #[test]
    fn links_of_a_post_are_relative_to_its_page() -> anyhow::Result<()> {
        let posts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../frontends/blog/posts");
        let file = Path::new(posts).join("smart-home.md");
        let links = Links::new(
            "https://oculant.example",
            "smart-home",
            Some(("smart-home", &*file)),
        )?;
        let mut found = Findings::default();
        for (written, path, fragment) in [
            ("#zones", "/blog/smart-home", "#zones"),
            ("future-trends", "/blog/future-trends", ""),
            ("/careers", "/careers", ""),
        ] {
            let link = format!("https://oculant.example{path}?{CAMPAIGN}{fragment}");
            assert_eq!(links.link(written, &mut found), link);
        }
        assert_eq!(links.picture("pixels.svg", &mut found)?, None);
        assert_eq!(found.faults, [""; 0]);
        links.picture("pixel.svg", &mut found)?;
        assert_eq!(found.faults, ["the picture pixel.svg is missing"]);
        Ok(())
    }
}
