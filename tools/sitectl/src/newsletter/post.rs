//! Text of an issue: a blog post, or another Markdown file.

use std::fs;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use site_events::event::{Audience, NewsletterIssueRequested};

use super::{PostArgs, article, faults::Findings, links::Links};
use crate::output::printable;

/// Mail programs cut a longer text beside the subject.
const MAX_PREVIEW_CHARACTERS: usize = 140;
const MAX_NAME_CHARACTERS: usize = 100;

/// Front matter; only a blog post has an id.
#[derive(Deserialize)]
struct FrontMatter {
    id: Option<String>,
    title: String,
    excerpt: Option<String>,
}

/// Reads a file, and checks its links and pictures. With `--force`, faults are only printed.
///
/// # Errors
///
/// If the file cannot be read, has no title, has content that a mail cannot show, or has faults.
pub async fn read(args: &PostArgs, audience: Audience) -> anyhow::Result<NewsletterIssueRequested> {
    let file = args.post.display();
    let source = fs::read_to_string(&args.post).with_context(|| format!("{file} cannot be read"))?;
    let parsed = parse(&source, args, audience);
    let (issue, found) = parsed.with_context(|| format!("{file} cannot be sent"))?;
    let faults = found.into_faults().await?.join("; ");
    ensure!(
        args.force || faults.is_empty(),
        "{file} cannot be sent: {faults}. Fix this, or repeat it with --force."
    );
    if !faults.is_empty() {
        eprintln!("Warning: {}.", printable(&faults));
    }
    Ok(issue)
}

fn parse(
    source: &str,
    args: &PostArgs,
    audience: Audience,
) -> anyhow::Result<(NewsletterIssueRequested, Findings)> {
    let name = args.name();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    ensure!(
        !name.is_empty() && name.len() <= MAX_NAME_CHARACTERS && name.chars().all(is_plain),
        "its name \"{name}\" may have only lower-case letters, digits and hyphens; set one with --name"
    );
    let source = source.replace("\r\n", "\n");
    let (FrontMatter { id, title, excerpt }, body) = split(&source)?;
    let links = Links::new(&args.site_url, &name, id.as_deref().map(|id| (id, &*args.post)))?;
    let mut found = Findings::default();
    found.check(&title);
    found.check(excerpt.as_deref().unwrap_or_default());
    let html = article::html(body, &links, &mut found)?;
    let text = article::text(&html)?;
    ensure!(!text.is_empty(), "it has no text");
    let first_words = || text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let excerpt = excerpt.unwrap_or_else(first_words);
    let is_line = |words: &str| !words.is_empty() && !words.contains(char::is_control);
    ensure!(
        is_line(&title) && is_line(&excerpt),
        "its title or excerpt is empty or has control characters"
    );
    let issue = NewsletterIssueRequested {
        name,
        subject: title,
        preview: excerpt.chars().take(MAX_PREVIEW_CHARACTERS).collect(),
        html,
        text,
        web: links.web(),
        audience,
    };
    Ok((issue, found))
}

/// Splits a file into its front matter (or its first line, the title) and its text.
fn split(source: &str) -> anyhow::Result<(FrontMatter, &str)> {
    if let Some(source) = source.strip_prefix("---\n") {
        let parts = source.split_once("\n---\n");
        let (front, body) = parts.context("its front matter does not end with a line of ---")?;
        let front = serde_saphyr::from_str(front).context("its front matter is not YAML with a title")?;
        return Ok((front, body));
    }
    let parts = source.trim_start().split_once('\n').unwrap_or_default();
    let title = parts.0.strip_prefix("# ");
    let title = title.context("it has no title: neither front matter nor a first line `# Title`")?;
    let (id, excerpt, title) = (None, None, title.trim().to_owned());
    Ok((FrontMatter { id, title, excerpt }, parts.1))
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

    fn parse(source: &str, name: Option<&str>) -> anyhow::Result<NewsletterIssueRequested> {
        let parsed = super::parse(source, &args(Path::new("issue.md"), name), Audience::Subscribers);
        parsed.map(|(issue, _)| issue)
    }

    #[test]
    fn only_a_blog_post_has_a_web_link() -> anyhow::Result<()> {
        let source = "---\n\nid: smart-home\ntitle: \"The smart home\"\nexcerpt: Cameras at home.\nauthor: CTO\n---\n\nHello *you*.\n";
        let post = parse(source, Some("smart-home"))?;
        let words = [&*post.name, &*post.subject, &*post.preview, &*post.text];
        assert_eq!(
            words,
            ["smart-home", "The smart home", "Cameras at home.", "Hello you."]
        );
        let web = "https://oculant.example/blog/smart-home?utm_source=newsletter&utm_medium=email&utm_campaign=smart-home";
        assert_eq!(post.web.as_deref(), Some(web));

        let file = parse("# Hello\n\nFirst [words](/x)\nof it.\n\nMore.\n", Some("hello"))?;
        assert_eq!((file.subject.as_str(), file.web), ("Hello", None));
        assert_eq!(file.preview, "First [words][1] of it.");
        assert!(!file.text.contains("# Hello"), "{}", file.text);
        Ok(())
    }

    #[test]
    fn every_post_of_the_blog_can_be_sent() -> anyhow::Result<()> {
        let posts = concat!(env!("CARGO_MANIFEST_DIR"), "/../../frontends/blog/posts");
        let mut read = 0;
        for file in fs::read_dir(posts)? {
            let file = file?.path();
            let source = fs::read_to_string(&file)?;
            let (post, found) = super::parse(&source, &args(&file, None), Audience::Subscribers)?;
            assert_eq!(found.faults, [""; 0], "{}", file.display());
            for (part, raw) in [(&post.text, "]("), (&post.text, "[^"), (&post.html, "[^")] {
                assert!(!part.contains(raw), "{}: {raw}", file.display());
            }
            read += 1;
        }
        assert!(read > 1, "{posts} holds no posts");
        Ok(())
    }

    #[test]
    fn unsendable_posts_are_refused_with_the_reason() {
        let with_title = |body: &str| format!("---\ntitle: x\nexcerpt: x\n---\n{body}\n");
        for (source, reason) in [
            ("No title.\n".to_owned(), "no title"),
            ("---\ntitle: x\n".to_owned(), "does not end"),
            ("---\ntitle: [\n---\nx\n".to_owned(), "not YAML"),
            ("---\ntitle: \"\"\nexcerpt: x\n---\nx\n".to_owned(), "is empty"),
            (with_title(""), "no text"),
            (with_title("<script>x</script>"), "HTML"),
            (with_title("A <b>word</b>"), "HTML"),
            (with_title("![x](https://other.example/x.png)"), "hosted"),
        ] {
            let refusal = parse(&source, Some("issue")).expect_err(reason);
            assert!(format!("{refusal:#}").contains(reason), "{source:?}: {refusal:#}");
        }
        for name in ["", "Smart Home", "../x"] {
            assert!(parse(&with_title("x"), Some(name)).is_err(), "{name}");
        }
    }
}
