//! What an issue says: a post of the blog, or any Markdown file.

use std::fs;

use anyhow::{Context as _, bail, ensure};
use html2text::render::TrivialDecorator;
use serde::Deserialize;
use site_events::event::{Audience, NewsletterIssueRequested};
use url::Url;

use super::{
    PostArgs, article,
    faults::{Findings, placeholders},
    links::SiteLinks,
};

/// What stands before and after the front matter.
const FENCE: &str = "---\n";
/// The longest words beside the subject: mail programs show no more.
const MAX_PREVIEW_CHARACTERS: usize = 140;
/// The longest subject line.
const MAX_SUBJECT_CHARACTERS: usize = 200;
/// The longest name.
const MAX_NAME_CHARACTERS: usize = 100;
/// The largest issue: an event holds it, of which the broker takes no more than a megabyte.
const MAX_ISSUE_BYTES: usize = 400_000;
/// Some mail programs show no more of a mail.
const CLIPPED_ABOVE_BYTES: usize = 90_000;

/// The values of a post's front matter that an issue needs.
#[derive(Debug, Default, Deserialize)]
struct FrontMatter {
    id: Option<String>,
    title: Option<String>,
    excerpt: Option<String>,
}

/// An issue that is read, and what its author may want to know.
pub struct Post {
    /// What is sent.
    pub issue: NewsletterIssueRequested,
    /// What may not be as it is meant.
    pub remarks: Vec<String>,
    found: Findings,
}

impl Post {
    /// Reads a file: a post of the blog, which is read on the web, too, or any other. Looks whether what it links to and shows is there.
    /// By force, what is wrong is a remark.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has no title, holds HTML of its own or a picture of another site, or is too long; or something is wrong that
    /// its readers would see, and that is not forced.
    pub async fn read(args: &PostArgs, audience: Audience) -> anyhow::Result<Self> {
        let file = args.post.display();
        let source = fs::read_to_string(&args.post).with_context(|| format!("{file} cannot be read"))?;
        let read = async { Self::parse(&source, args, audience)?.looked_at(args.force).await };
        read.await.with_context(|| format!("{file} cannot be sent"))
    }

    async fn looked_at(mut self, by_force: bool) -> anyhow::Result<Self> {
        let unknown = self.found.ask().await?;
        let wrong = &self.found.faults;
        if !(wrong.is_empty() || by_force) {
            bail!("{}. Mend that, or repeat it with --force.", wrong.join("; "));
        }
        if !unknown.is_empty() {
            let unknown: Vec<&str> = unknown.iter().map(Url::as_str).collect();
            let unknown = unknown.join(", ");
            let remark = format!("Not checked, because there was no clear answer: {unknown}.");
            self.remarks.push(remark);
        }
        let wrong = wrong.iter().map(|wrong| format!("Wrong: {wrong}."));
        self.remarks.extend(wrong);
        Ok(self)
    }

    fn parse(source: &str, args: &PostArgs, audience: Audience) -> anyhow::Result<Self> {
        let source = source.replace("\r\n", "\n");
        let (front, body) = split(&source)?;
        let (title, body) = match front.title {
            Some(title) => (title, body),
            None => {
                heading(body).context("it has no title: neither front matter nor a first line `# Title`")?
            }
        };
        let name = args.name().into_owned();
        ensure_name(&name)?;
        let site = Url::parse(&args.site_url).context("SITE_URL is no address of a site")?;
        let blog = front.id.as_deref().map(|id| (id, &*args.post));
        let links = SiteLinks::new(site.clone(), &name, blog)?;
        let mut found = Findings::default();
        let excerpt = front.excerpt.as_deref().unwrap_or_default();
        for (place, words) in [("title", title.as_str()), ("excerpt", excerpt)] {
            found.faults(placeholders(words).map(|what| format!("its {place}: {what}")));
        }
        let first_line = 1 + source[..source.len() - body.len()].matches('\n').count();
        let html = article::html(body, first_line, &links, &mut found)?;
        let text = article::text(&html)?;
        let preview = match front.excerpt {
            Some(excerpt) => excerpt,
            None => first_words(&html)?,
        };
        let issue = NewsletterIssueRequested {
            name,
            subject: title.trim().to_owned(),
            preview: preview.chars().take(MAX_PREVIEW_CHARACTERS).collect(),
            html,
            text,
            web: links.web(),
            audience,
        };
        ensure_size(&issue)?;
        Ok(Self {
            remarks: remarks(&issue, &site),
            issue,
            found,
        })
    }
}

/// The front matter, where there is one, and what follows it.
fn split(source: &str) -> anyhow::Result<(FrontMatter, &str)> {
    let Some(rest) = source.strip_prefix(FENCE) else {
        return Ok((FrontMatter::default(), source));
    };
    let (front, body) = rest
        .split_once("\n---\n")
        .context("its front matter does not end with a line of ---")?;
    let front: FrontMatter = serde_saphyr::from_str(front).context("its front matter is not YAML")?;
    Ok((front, body))
}

/// The title in the first line, and what follows it.
fn heading(body: &str) -> Option<(String, &str)> {
    let (first, rest) = body.trim_start().split_once('\n')?;
    Some((first.strip_prefix("# ")?.to_owned(), rest))
}

fn ensure_name(name: &str) -> anyhow::Result<()> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    ensure!(
        !name.is_empty() && name.len() <= MAX_NAME_CHARACTERS && name.chars().all(is_plain),
        "its name \"{name}\" is not made of small letters, digits and hyphens; give it one with --name"
    );
    Ok(())
}

fn ensure_size(issue: &NewsletterIssueRequested) -> anyhow::Result<()> {
    let subject = issue.subject.chars();
    ensure!(
        !issue.subject.is_empty()
            && subject.clone().count() <= MAX_SUBJECT_CHARACTERS
            && !subject.clone().any(char::is_control),
        "its title is not one line of at most {MAX_SUBJECT_CHARACTERS} characters"
    );
    ensure!(!issue.text.trim().is_empty(), "it says nothing");
    let bytes = issue.html.len() + issue.text.len();
    ensure!(
        bytes <= MAX_ISSUE_BYTES,
        "it has {bytes} bytes as HTML and text; an issue has at most {MAX_ISSUE_BYTES}"
    );
    Ok(())
}

fn remarks(issue: &NewsletterIssueRequested, site: &Url) -> Vec<String> {
    let mut remarks = Vec::new();
    if issue.html.len() > CLIPPED_ABOVE_BYTES {
        remarks.push("It is so long that some mail programs will show only its beginning.".to_owned());
    }
    if site.scheme() != "https" {
        remarks.push("Its links lead to a site without HTTPS (setting SITE_URL).".to_owned());
    }
    remarks
}

/// The words of the first paragraph, in a line.
fn first_words(html: &str) -> anyhow::Result<String> {
    let (paragraph, _) = html.split_once("</p>").unwrap_or((html, ""));
    let words = html2text::config::with_decorator(TrivialDecorator::new());
    let words = words.string_from_read(paragraph.as_bytes(), MAX_PREVIEW_CHARACTERS)?;
    Ok(words.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn args(file: &Path, name: Option<&str>) -> PostArgs {
        PostArgs {
            post: file.to_owned(),
            name: name.map(str::to_owned),
            site_url: "https://oculant.example".to_owned(),
            force: false,
        }
    }

    fn parse(source: &str, name: Option<&str>) -> anyhow::Result<Post> {
        Post::parse(source, &args(Path::new("issue.md"), name), Audience::Subscribers)
    }

    fn refusal(source: &str) -> String {
        parse(source, Some("issue"))
            .err()
            .map(|error| format!("{error:#}"))
            .unwrap_or_default()
    }

    #[test]
    fn a_post_of_the_blog_is_read_on_the_web_too() -> anyhow::Result<()> {
        let source = "---\n\nid: smart-home\ntitle: \"The smart home\"\nexcerpt: Cameras at home.\nauthor: CTO\n---\n\nHello *you*.\n";
        let post = parse(source, Some("smart-home"))?.issue;
        assert_eq!(
            (post.name.as_str(), post.subject.as_str()),
            ("smart-home", "The smart home")
        );
        assert_eq!(
            (post.preview.as_str(), post.text.as_str()),
            ("Cameras at home.", "Hello you.")
        );
        let web = "https://oculant.example/blog/smart-home?utm_source=newsletter&utm_medium=email&utm_campaign=smart-home";
        assert_eq!(post.web.as_deref(), Some(web));
        Ok(())
    }

    #[test]
    fn every_post_of_the_blog_can_be_sent() -> anyhow::Result<()> {
        let posts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../frontends/blog/posts");
        let mut read = 0;
        for file in fs::read_dir(posts)? {
            let file = file?.path();
            let source = fs::read_to_string(&file)?;
            let post = Post::parse(&source, &args(&file, None), Audience::Subscribers)?;
            assert_eq!(post.found.faults, [""; 0], "{}", file.display());
            for (part, raw) in [
                (&post.issue.text, "]("),
                (&post.issue.text, "[^"),
                (&post.issue.html, "[^"),
            ] {
                assert!(!part.contains(raw), "{}: {raw}", file.display());
            }
            read += 1;
        }
        assert!(read > 1, "{posts} holds no posts");
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named_by_the_line_of_the_file() -> anyhow::Result<()> {
        let source = "---\nid: issue\ntitle: For {{ name }}\nexcerpt: Of ${city}\n---\n\nHello *|NAME|*.\n";
        assert_eq!(
            parse(source, None)?.found.faults,
            [
                "its title: nobody fills in the placeholder {{ name }}",
                "its excerpt: nobody fills in the placeholder ${city}",
                "line 7: nobody fills in the placeholder *|NAME|*",
            ]
        );
        Ok(())
    }

    #[test]
    fn a_file_without_front_matter_begins_with_its_title() -> anyhow::Result<()> {
        let post = parse("# Hello\n\nFirst [words](/x)\nof it.\n\nMore.\n", Some("hello"))?.issue;
        assert_eq!((post.subject.as_str(), post.web), ("Hello", None));
        assert_eq!(post.preview, "First words of it.");
        assert!(!post.text.contains("# Hello"), "{}", post.text);
        Ok(())
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_the_reason() {
        for (source, reason) in [
            ("No title.\n", "no title"),
            ("---\ntitle: x\n", "does not end"),
            ("---\ntitle: [\n---\nx\n", "not YAML"),
            ("# Title\n\n", "says nothing"),
            ("# Title\n\n<script>x</script>\n", "HTML"),
            ("# Title\n\nA <b>word</b>\n", "HTML"),
            ("# Title\n\n![x](https://other.example/x.png)\n", "hosted"),
        ] {
            let refusal = refusal(source);
            assert!(refusal.contains(reason), "{source:?}: {refusal}");
        }
        assert!(refusal(&format!("# Title\n\n{}\n", "long ".repeat(60_000))).contains("at most"));
        for name in ["", "Smart Home", "../x"] {
            assert!(parse("# T\n\nx\n", Some(name)).is_err(), "{name}");
        }
    }
}
