//! The links and pictures of an issue. Those that lead to our own site say so, by its campaign parameters; no other is changed, and none
//! is led through a counter.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use url::{Host, Url};

use super::faults::Findings;

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
}

impl SiteLinks {
    /// The links of the issue of this name; of a post of the blog, by its id and its file.
    ///
    /// # Errors
    ///
    /// If the id is none.
    pub fn new(site: Url, name: &str, post: Option<(&str, &Path)>) -> anyhow::Result<Self> {
        let page = post.map(|(id, _)| site.join(&format!("/blog/{id}"))).transpose();
        let pictures = post.and_then(|(_, file)| Some(file.parent()?.join(PICTURES)));
        Ok(Self {
            post: page.context("its id is none")?,
            pictures: pictures.filter(|pictures| pictures.is_dir()),
            campaign: name.to_owned(),
            site,
        })
    }

    /// The page of the blog, as a link in the mail.
    pub fn web(&self) -> Option<String> {
        self.post.clone().map(|post| self.with_campaign(post).to_string())
    }

    /// The same, or the site.
    pub fn page(&self) -> String {
        let page = self.post.as_ref().unwrap_or(&self.site);
        self.with_campaign(page.clone()).into()
    }

    /// A link as it stands in the mail. One that leads nowhere is a fault, and stands as it is written.
    pub fn link(&self, written: &str, found: &mut Findings) -> String {
        match self.target(written) {
            Ok(url) => {
                if url.scheme().starts_with("http") {
                    found.ask_for(&url, format!("the link {url} leads nowhere"));
                }
                self.with_campaign(url).into()
            }
            Err(why) => {
                found.faults([format!("the link {written} leads nowhere: {why}")]);
                written.to_owned()
            }
        }
    }

    /// How a picture is shown. One that is missing is a fault, and shown by its words.
    ///
    /// # Errors
    ///
    /// If it lies with somebody else, who would hear of each reader.
    pub fn picture(&self, written: &str, found: &mut Findings) -> anyhow::Result<Picture> {
        let is_name = !written.contains([':', '/']);
        let pictures = self.pictures.as_ref().filter(|_| is_name);
        let is_of_blog = pictures.map(|pictures| pictures.join(written).is_file());
        match (is_of_blog, self.target(written)) {
            (None, Ok(picture)) => {
                ensure!(
                    self.is_ours(&picture),
                    "the picture {written} is not hosted by the site, and whoever hosts it would hear of each reader"
                );
                found.ask_for(&picture, format!("the picture {picture} is missing"));
                Ok(Picture::At(picture))
            }
            (Some(true), _) => Ok(Picture::Words),
            (Some(false), _) | (None, Err(_)) => {
                found.faults([format!("the picture {written} is missing")]);
                Ok(Picture::Words)
            }
        }
    }

    /// Where a link leads, or why that is nowhere.
    fn target(&self, written: &str) -> Result<Url, &'static str> {
        if written.starts_with('#') && self.post.is_none() {
            return Err("mail programs do not follow it to a heading");
        }
        let page = self.post.as_ref().unwrap_or(&self.site);
        let link = if written.contains('@') && !written.contains([':', '/']) {
            Url::parse(&format!("mailto:{written}"))
        } else {
            page.join(written)
        };
        let link = link.map_err(|_| "it is no address")?;
        match link.scheme() {
            _ if written.is_empty() => Err("it has no address"),
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

    /// Whether no reader reaches its host. A site without HTTPS is tried on one machine, and may link to that.
    fn is_out_of_reach(&self, link: &Url) -> bool {
        let is_private = match link.host() {
            Some(Host::Domain(name)) => {
                !name.contains('.') || PRIVATE_ENDS.iter().any(|end| name.ends_with(end))
            }
            Some(Host::Ipv4(address)) => address.is_private() || address.is_loopback(),
            _ => false,
        };
        is_private && self.site.scheme() == "https"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(site: &str) -> anyhow::Result<SiteLinks> {
        SiteLinks::new(Url::parse(site)?, "smart-home", None)
    }

    #[test]
    fn links_to_our_site_name_the_issue_and_no_other_is_changed() -> anyhow::Result<()> {
        let links = links("https://oculant.example")?;
        let campaign = "utm_source=newsletter&utm_medium=email&utm_campaign=smart-home";
        let mut found = Findings::default();
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
        ] {
            assert_eq!(links.link(written, &mut found), link);
        }
        assert!(links.picture("https://example.org/x.png", &mut found).is_err());
        assert_eq!(
            links.picture("/x.png", &mut found)?,
            Picture::At(Url::parse("https://oculant.example/x.png")?)
        );
        assert_eq!(found.faults, [""; 0]);
        Ok(())
    }

    #[test]
    fn links_of_a_post_are_seen_from_its_page() -> anyhow::Result<()> {
        let site = Url::parse("https://oculant.example")?;
        let post = ("smart-home", Path::new("smart-home.md"));
        let links = SiteLinks::new(site, "smart-home", Some(post))?;
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
            "#zones",
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
