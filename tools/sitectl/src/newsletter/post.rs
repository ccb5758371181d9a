//! What an issue says: a post of the blog, or any Markdown file.

use std::{fs, path::Path};

use anyhow::{Context as _, anyhow, ensure};
use serde::Deserialize;
use site_events::event::{Audience, NewsletterIssueRequested};
use url::Url;

use super::{
    article::Article,
    faults::{self, Fault, Findings},
    html,
    links::SiteLinks,
    plain_text, reachability,
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
    /// Reads a file: a post of the blog, which is read on the web, too, or any other.
    ///
    /// # Errors
    ///
    /// If it cannot be read, has no title, holds HTML of its own or a picture of another site, or is too long.
    pub fn read(file: &Path, name: Option<&str>, site_url: &str, audience: Audience) -> anyhow::Result<Self> {
        let source = fs::read_to_string(file);
        let source = source.with_context(|| format!("{} cannot be read", file.display()))?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let source = source.replace("\r\n", "\n");
        Self::parse(&source, file, name.or(stem.as_deref()), site_url, audience)
            .with_context(|| cannot_be_sent(file))
    }

    /// Looks whether what it links to and shows is there. What is wrong is told as a remark where it goes on by force.
    ///
    /// # Errors
    ///
    /// If something is wrong that its readers would see, and that is not forced; or nothing can be asked for.
    pub async fn look(mut self, file: &Path, by_force: bool) -> anyhow::Result<Self> {
        let Findings {
            faults: mut wrong,
            targets,
        } = std::mem::take(&mut self.found);
        let (missing, unknown) = reachability::look(targets).await?;
        wrong.extend(missing);
        wrong.sort();
        let wrong: Vec<String> = wrong.iter().map(Fault::to_string).collect();
        if !(wrong.is_empty() || by_force) {
            return Err(anyhow!(
                "{}. Mend that, or repeat it with --force.",
                wrong.join("; ")
            ))
            .with_context(|| cannot_be_sent(file));
        }
        if !unknown.is_empty() {
            let unknown: Vec<&str> = unknown.iter().map(Url::as_str).collect();
            let unknown = unknown.join(", ");
            self.remarks.push(format!(
                "Not checked, because there was no clear answer: {unknown}."
            ));
        }
        let wrong = wrong.iter().map(|wrong| format!("Wrong: {wrong}."));
        self.remarks.extend(wrong);
        Ok(self)
    }

    fn parse(
        source: &str,
        file: &Path,
        name: Option<&str>,
        site_url: &str,
        audience: Audience,
    ) -> anyhow::Result<Self> {
        let (front, body) = split(source)?;
        let (title, body) = match front.title {
            Some(title) => (title, body),
            None => {
                heading(body).context("it has no title: neither front matter nor a first line `# Title`")?
            }
        };
        let name = name.or(front.id.as_deref()).unwrap_or_default().to_owned();
        ensure_name(&name)?;
        let site = Url::parse(site_url).context("SITE_URL is no address of a site")?;
        let links = SiteLinks::new(site.clone(), &name);
        let links = match &front.id {
            Some(id) => links.of_post(id, file)?,
            None => links,
        };
        let article = Article::parse(body);
        let first_line = 1 + source[..source.len() - body.len()].matches('\n').count();
        let mut found = faults::look(body, first_line, &article, &links)?;
        let excerpt = front.excerpt.as_deref().unwrap_or_default();
        for (place, words) in [("title", title.as_str()), ("excerpt", excerpt)] {
            let wrong = faults::placeholders(words).map(|what| Fault {
                line: None,
                what: format!("its {place}: {what}"),
            });
            found.faults.extend(wrong);
        }
        let text = plain_text::render(&article, &links)?;
        let html = html::render(&article, &links)?;
        let preview = front.excerpt.unwrap_or_else(|| first_words(&text));
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

fn cannot_be_sent(file: &Path) -> String {
    format!("{} cannot be sent", file.display())
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

/// The first words of a text, in a line.
fn first_words(text: &str) -> String {
    let words = text.split("\n\n").next().unwrap_or_default();
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: &str = "https://oculant.example";

    fn parse(source: &str, name: Option<&str>) -> anyhow::Result<Post> {
        Post::parse(source, Path::new("issue.md"), name, SITE, Audience::Subscribers)
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
            let post = Post::read(&file, None, SITE, Audience::Subscribers)?;
            assert_eq!(post.found.faults, [], "{}", file.display());
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
        let mut faults = parse(source, None)?.found.faults;
        faults.sort();
        let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(
            faults,
            [
                "its excerpt: nobody fills in the placeholder ${city}",
                "its title: nobody fills in the placeholder {{ name }}",
                "line 7: nobody fills in the placeholder *|NAME|*",
            ]
        );
        Ok(())
    }

    #[test]
    fn a_file_without_front_matter_begins_with_its_title() -> anyhow::Result<()> {
        let post = parse("# Hello\n\nFirst words\nof it.\n\nMore.\n", Some("hello"))?.issue;
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
