//! The links and pictures of an issue. Those that lead to our own site say so, by its campaign parameters; no other is changed, and none
//! is led through a counter.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use url::{Host, Url};

/// Where the blog has its pictures, seen from a post.
const PICTURES: &str = "../src/pictures";
/// Ends of names that no reader finds.
const PRIVATE_ENDS: [&str; 4] = [".invalid", ".localhost", ".local", ".internal"];

/// How the links of one issue are written.
pub struct SiteLinks {
    site: Url,
    /// The page of the blog on which the issue is read, too.
    post: Option<Url>,
    campaign: String,
    /// The blog's pictures, where the issue is a post of it.
    pictures: Option<PathBuf>,
}

/// How a picture is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picture {
    /// From this address.
    At(Url),
    /// By its words: the address of a picture of the blog changes with each build, and no mail program shows its drawings.
    Words,
    /// By its words, as it is none of the blog's pictures.
    Missing,
}

impl SiteLinks {
    /// The links of the issue of this name.
    pub fn new(site: Url, name: &str) -> Self {
        Self {
            site,
            post: None,
            campaign: name.to_owned(),
            pictures: None,
        }
    }

    /// The same for a post of the blog that lies in this file.
    ///
    /// # Errors
    ///
    /// If its id is none.
    pub fn of_post(self, id: &str, file: &Path) -> anyhow::Result<Self> {
        let post = self.site.join(&format!("/blog/{id}"));
        let pictures = file.parent().map(|folder| folder.join(PICTURES));
        Ok(Self {
            post: Some(post.with_context(|| format!("its id {id} is none"))?),
            pictures: pictures.filter(|pictures| pictures.is_dir()),
            ..self
        })
    }

    /// The page of the blog, as a link in the mail.
    pub fn web(&self) -> Option<String> {
        self.post.clone().map(|post| self.with_campaign(post).to_string())
    }

    /// A link as it stands in the mail. One to a heading stays in the mail where that is nowhere on the web.
    ///
    /// # Errors
    ///
    /// If it leads nowhere, with the reason.
    pub fn link(&self, written: &str) -> Result<String, &'static str> {
        if self.post.is_none() && written.starts_with('#') {
            return Ok(written.to_owned());
        }
        Ok(self.with_campaign(self.target(written)?).into())
    }

    /// Where a link leads.
    ///
    /// # Errors
    ///
    /// If that is nowhere, with the reason.
    pub fn target(&self, written: &str) -> Result<Url, &'static str> {
        if written.is_empty() {
            return Err("it has no address");
        }
        let page = self.post.as_ref().unwrap_or(&self.site);
        let link = if written.contains('@') && !written.contains([':', '/']) {
            Url::parse(&format!("mailto:{written}"))
        } else {
            page.join(written)
        };
        let link = link.map_err(|_| "it is no address")?;
        match link.scheme() {
            "mailto" | "tel" if link.path().is_empty() => Err("it has no address"),
            "mailto" | "tel" => Ok(link),
            "http" | "https" if written.starts_with("www.") => Err("it has no https:// before it"),
            "http" | "https" if !self.is_ours(&link) && self.is_out_of_reach(&link) => {
                Err("no reader reaches that machine")
            }
            "http" | "https" => Ok(link),
            _ => Err("no mail program follows it"),
        }
    }

    /// How a picture is shown.
    ///
    /// # Errors
    ///
    /// If it lies with somebody else, who would hear of each reader.
    pub fn picture(&self, written: &str) -> anyhow::Result<Picture> {
        if let Some(pictures) = self.pictures.as_ref().filter(|_| !written.contains([':', '/'])) {
            let is_there = pictures.join(written).is_file();
            return Ok(if is_there {
                Picture::Words
            } else {
                Picture::Missing
            });
        }
        let Ok(picture) = self.target(written) else {
            return Ok(Picture::Missing);
        };
        ensure!(
            self.is_ours(&picture),
            "the picture {written} is not hosted by the site, and whoever hosts it would hear of each reader"
        );
        Ok(Picture::At(picture))
    }

    /// Whether it is an address of the site.
    fn is_ours(&self, link: &Url) -> bool {
        link.origin() == self.site.origin()
    }

    fn with_campaign(&self, mut link: Url) -> Url {
        if self.is_ours(&link) {
            link.query_pairs_mut()
                .append_pair("utm_source", "newsletter")
                .append_pair("utm_medium", "email")
                .append_pair("utm_campaign", &self.campaign);
        }
        link
    }

    /// Whether no reader reaches its host. A site that is tried on one machine may link to that.
    fn is_out_of_reach(&self, link: &Url) -> bool {
        match link.host() {
            Some(Host::Domain(name)) if name != "localhost" => {
                !name.contains('.') || PRIVATE_ENDS.iter().any(|end| name.ends_with(end))
            }
            Some(Host::Ipv4(address)) if !address.is_loopback() => address.is_private(),
            Some(Host::Ipv6(address)) if !address.is_loopback() => false,
            _ => self.site.scheme() == "https",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(site: &str) -> anyhow::Result<SiteLinks> {
        Ok(SiteLinks::new(Url::parse(site)?, "smart-home"))
    }

    #[test]
    fn links_to_our_site_name_the_issue_and_no_other_is_changed() -> anyhow::Result<()> {
        let links = links("https://oculant.example")?;
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
            // As in `<hello@oculant.example>`.
            ("hello@oculant.example", "mailto:hello@oculant.example".to_owned()),
            ("tel:+911234567", "tel:+911234567".to_owned()),
            ("#zones", "#zones".to_owned()),
        ] {
            assert_eq!(links.link(written), Ok(link));
        }
        assert!(links.picture("https://example.org/x.png").is_err());
        assert_eq!(
            links.picture("/x.png")?,
            Picture::At(Url::parse("https://oculant.example/x.png")?)
        );
        Ok(())
    }

    #[test]
    fn links_of_a_post_are_seen_from_its_page() -> anyhow::Result<()> {
        let links = links("https://oculant.example")?.of_post("smart-home", Path::new("smart-home.md"))?;
        for (written, link) in [
            ("#zones", "https://oculant.example/blog/smart-home#zones"),
            ("future-trends", "https://oculant.example/blog/future-trends"),
            ("/careers", "https://oculant.example/careers"),
        ] {
            assert_eq!(links.target(written).map(String::from), Ok(link.to_owned()));
        }
        Ok(())
    }

    #[test]
    fn a_link_that_leads_nowhere_is_known_without_following_it() -> anyhow::Result<()> {
        let site = links("https://oculant.example")?;
        for dead in [
            "",
            "javascript:alert(1)",
            "ftp://example.org/x",
            "https://",
            "https://contact",
            "https://nothing.invalid/",
            "http://localhost:3000/draft",
            "http://192.168.1.7/",
            "http://wiki.internal/",
            "www.example.org/x",
        ] {
            assert!(site.target(dead).is_err(), "{dead}");
        }
        // A site that is looked at on one machine.
        assert!(
            links("http://localhost:8080")?
                .target("http://127.0.0.1:3000/")
                .is_ok()
        );
        Ok(())
    }
}
