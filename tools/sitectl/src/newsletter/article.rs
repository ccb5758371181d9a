//! The mail of an issue, from its Markdown. Mail programs drop style sheets and know few elements, so that each element has its style
//! with it; the classes are for the dark ones in the frame that every mail has.

use anyhow::{Context as _, bail};
use pulldown_cmark::{
    CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html::push_html,
};

use super::links::Links;

/// What Markdown may hold beside its basics.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_FOOTNOTES);
/// What each element has in a mail.
const ATTRIBUTES: &str = r#"h2 class="ink" style="margin:28px 0 12px;font-weight:600;font-size:21px;line-height:1.25;color:#12181f"
p class="ink" style="margin:0 0 16px;color:#12181f"
blockquote class="ink-2" style="margin:0 0 16px;padding:0 0 0 16px;border-left:3px solid #f2a900;color:#48535f"
ol class="ink" style="margin:0 0 16px;padding-left:24px;color:#12181f"
ul class="ink" style="margin:0 0 16px;padding-left:24px;color:#12181f"
li style="margin:0 0 6px"
pre style="margin:0 0 16px;white-space:pre-wrap;font-size:14px"
table class="ink" cellpadding="0" cellspacing="0" border="0" width="100%" style="margin:0 0 16px"
th class="line" style="padding:8px 12px 8px 0;border-top:1px solid #d9d2c4;text-align:left;vertical-align:top"
td class="line" style="padding:8px 12px 8px 0;border-top:1px solid #d9d2c4;text-align:left;vertical-align:top"
hr style="border:0;border-top:1px solid #d9d2c4;margin:24px 0"
img style="display:block;max-width:100%;height:auto;border:0"
a class="seen-ink" style="color:#7a4b00"
sup style="font-size:75%;line-height:0""#;
const CAPTION: &str =
    r#"<span class="ink-2" style="display:block;margin:8px 0 0;font-size:14px;color:#48535f">"#;
/// The longest line of the plain text.
const TEXT_WIDTH: usize = 72;
/// The narrowest column of a table in it: most words and numbers fit.
const TEXT_COLUMN: usize = 12;

/// The HTML of an article.
///
/// # Errors
///
/// If it holds HTML of its own, a picture of another site, a link that is no address, or what nobody fills in.
pub fn html(markdown: &str, links: &Links) -> anyhow::Result<String> {
    let mut writer = Writer {
        links,
        body: Vec::new(),
        notes: Vec::new(),
        after_picture: Vec::new(),
        is_note: false,
        is_code: false,
    };
    for event in TextMergeStream::new(Parser::new_ext(markdown, OPTIONS)) {
        writer.event(event)?;
    }
    let Writer { mut body, notes, .. } = writer;
    if !notes.is_empty() {
        body.push(Event::Html("<h2>References</h2>\n<ol>\n".into()));
        body.extend(notes);
        body.push(Event::Html("</ol>\n".into()));
    }
    let mut html = String::new();
    push_html(&mut html, body.into_iter());
    Ok(styled(html))
}

/// Refuses words in which another tool would fill something in, and a footnote that has no text: nobody does so here.
///
/// # Errors
///
/// If they hold either.
pub fn ensure_filled_in(words: &str) -> anyhow::Result<()> {
    for (mark, why) in [("{{", "nobody fills it in"), ("[^", "the footnote has no text")] {
        if let Some(at) = words.find(mark) {
            let found: String = words[at..].chars().take(20).collect();
            bail!("it holds \"{found}\": {why}");
        }
    }
    Ok(())
}

/// The article as it is written anew for a mail.
struct Writer<'a, 'l> {
    links: &'l Links,
    /// All but the footnotes.
    body: Vec<Event<'a>>,
    notes: Vec<Event<'a>>,
    /// What stands below the picture that is read.
    after_picture: Vec<Event<'a>>,
    is_note: bool,
    is_code: bool,
}

impl<'a> Writer<'a, '_> {
    fn event(&mut self, event: Event<'a>) -> anyhow::Result<()> {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                bail!("it holds HTML ({}): write it as Markdown", html.trim())
            }
            Event::Text(words) => {
                if !self.is_code {
                    ensure_filled_in(&words)?;
                }
                self.push(Event::Text(words));
            }
            Event::Start(Tag::FootnoteDefinition(label)) => {
                self.is_note = true;
                self.push_html(format!("<li value=\"{}\">", number(&label)?));
            }
            Event::End(TagEnd::FootnoteDefinition) => {
                self.push_html("</li>\n");
                self.is_note = false;
            }
            Event::FootnoteReference(label) => self.push_html(format!("<sup>{}</sup>", number(&label)?)),
            // The only heading within a mail: its title stands above.
            Event::Start(Tag::Heading { .. }) => self.push_html("<h2>"),
            Event::End(TagEnd::Heading(_)) => self.push_html("</h2>\n"),
            Event::Start(Tag::Link {
                link_type, dest_url, ..
            }) if link_type != LinkType::Email => {
                let link = self.links.link(&dest_url)?;
                self.push(open_link(link));
            }
            Event::Start(Tag::Image { dest_url, title, .. }) => self.picture(&dest_url, title)?,
            Event::End(TagEnd::Image) => {
                for event in std::mem::take(&mut self.after_picture) {
                    self.push(event);
                }
            }
            event => {
                self.is_code = match event {
                    Event::Start(Tag::CodeBlock(_)) => true,
                    Event::End(TagEnd::CodeBlock) => false,
                    _ => self.is_code,
                };
                self.push(event);
            }
        }
        Ok(())
    }

    /// A picture, with its caption below it. One of the blog's own is told in its words, which lead to the post.
    fn picture(&mut self, written: &str, caption: CowStr<'a>) -> anyhow::Result<()> {
        let (begin, end) = match self.links.picture(written)? {
            Some(address) => {
                let image = Tag::Image {
                    link_type: LinkType::Inline,
                    dest_url: address.into(),
                    title: "".into(),
                    id: "".into(),
                };
                (Event::Start(image), TagEnd::Image)
            }
            None => (open_link(self.links.page()), TagEnd::Link),
        };
        self.push(begin);
        self.after_picture.push(Event::End(end));
        if !caption.is_empty() {
            let html = |html: &'static str| Event::Html(html.into());
            let caption = Event::Text(caption);
            self.after_picture
                .extend([Event::SoftBreak, html(CAPTION), caption, html("</span>")]);
        }
        Ok(())
    }

    fn push(&mut self, event: Event<'a>) {
        let part = if self.is_note {
            &mut self.notes
        } else {
            &mut self.body
        };
        part.push(event);
    }

    fn push_html(&mut self, html: impl Into<CowStr<'a>>) {
        self.push(Event::Html(html.into()));
    }
}

fn number(label: &str) -> anyhow::Result<u32> {
    let number = label.parse();
    number.with_context(|| format!("the footnote [^{label}] has no number"))
}

/// The plain text of an article; what its links lead to stands below it, by numbers.
///
/// # Errors
///
/// If a table cannot be written.
pub fn text(html: &str) -> anyhow::Result<String> {
    let text = html2text::config::plain_no_decorate()
        .link_footnotes(true)
        .no_link_wrapping()
        .min_wrap_width(TEXT_COLUMN)
        .string_from_read(html.as_bytes(), TEXT_WIDTH)
        .context("its plain text cannot be written")?;
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim().to_owned())
}

fn open_link<'a>(link: String) -> Event<'a> {
    Event::Start(Tag::Link {
        link_type: LinkType::Inline,
        dest_url: link.into(),
        title: "".into(),
        id: "".into(),
    })
}

/// All else that looks like an element is escaped by now.
fn styled(mut html: String) -> String {
    for element in ATTRIBUTES.lines() {
        let name = element.split(' ').next().unwrap_or_default();
        for end in [" ", ">"] {
            html = html.replace(&format!("<{name}{end}"), &format!("<{element}{end}"));
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(markdown: &str) -> anyhow::Result<(String, String)> {
        let links = Links::new("https://oculant.example", "x", None)?;
        let html = html(markdown, &links)?;
        let text = text(&html)?;
        Ok((html, text))
    }

    #[test]
    fn words_become_html_that_says_nothing_else() -> anyhow::Result<()> {
        // An autolink or a tag of the author's own is refused; `<two>` is one.
        assert!(rendered("One & <two> *three*\n").is_err());
        let (html, _) = rendered(
            "One & 2 < 3 *three*\n\n1. `a\"b`\n\n| h |\n|---|\n| c |\n\n![a \"b\"](/p.png \"Said <below>\")\n",
        )?;
        for part in [
            "One &amp; 2 &lt; 3 <em>three</em></p>",
            "<code>a\"b</code></li>",
            ">h</th></tr>",
            ">c</td></tr>",
            "src=\"https://oculant.example/p.png\" alt=\"a &quot;b&quot;\"",
            ">Said &lt;below&gt;</span></p>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        Ok(())
    }

    #[test]
    fn footnotes_stand_below_all_else() -> anyhow::Result<()> {
        let (html, text) = rendered(
            "One[^1], two[^2], one[^1].\n\n[^1]: Of [one](https://example.org/).\n[^2]: Of *two*.\n\nThe end.\n",
        )?;
        assert!(!html.contains("[^"), "{html}");
        assert_eq!(
            text,
            "One¹, two², one¹.\n\nThe end.\n\n## References\n1. Of [one][1].\n2. Of two.\n\n[1]: https://example.org/"
        );
        assert!(rendered("One[^a].\n\n[^a]: x\n").is_err());
        Ok(())
    }

    #[test]
    fn words_become_lines() -> anyhow::Result<()> {
        let (_, text) = rendered(
            "## Start\n\nOne *two*\n[three](https://example.org/).\n\n- a\n- b\n\n> said\n\n![a house](/h.png \"Home\")\n",
        )?;
        for part in [
            "Start\n\nOne two [three][1].\n",
            "* a\n* b\n",
            "\n> said\n",
            "[a house] Home",
            "[1]: https://example.org/",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let (_, long) = rendered(&"word ".repeat(40))?;
        assert!(long.lines().all(|line| line.len() <= TEXT_WIDTH), "{long}");
        assert_eq!(long.lines().count(), 3);
        Ok(())
    }

    #[test]
    fn a_link_is_never_broken() -> anyhow::Result<()> {
        let link = format!("https://example.org/{}", "x".repeat(100));
        for around in [
            "{}\n",
            "- {}\n",
            "1. a\n   - b\n     - c {}\n",
            "> {}, said\n",
            "a[^1]\n\n[^1]: {}.\n",
            "| a | b | c |\n|---|---|---|\n| {} | x | 1 |\n| some more words, and {} | y | 2 |\n",
        ] {
            let (_, text) = rendered(&around.replace("{}", &format!("[a]({link})")))?;
            assert!(text.lines().any(|line| line == format!("[1]: {link}")), "{text}");
            assert!(text.contains("[a][1]"), "{text}");
        }
        Ok(())
    }

    #[test]
    fn a_table_stands_in_columns() -> anyhow::Result<()> {
        let words = "many words ".repeat(6);
        let (_, table) = rendered(&format!(
            "| Storage | Mind |\n|---|---|\n| On a card | {words} |\n| In the cloud | the key[^1] |\n\n[^1]: Yes.\n"
        ))?;
        let rows: Vec<&str> = table.lines().filter(|line| line.contains('│')).collect();
        assert!(
            rows.len() > 3 && rows.iter().all(|row| row.chars().count() <= TEXT_WIDTH),
            "{table}"
        );
        assert!(table.contains("the key¹"), "{table}");
        Ok(())
    }

    #[test]
    fn what_nobody_fills_in_is_refused_outside_code() -> anyhow::Result<()> {
        for (markdown, named) in [
            ("Hello\n{{ name }}!\n", "{{ name }}"),
            ("One[^1].\n", "[^1]"),
            ("![Of {{ name }}](/x.png)\n", "{{ name }}"),
        ] {
            let refusal = rendered(markdown).expect_err("nobody fills it in").to_string();
            assert!(refusal.contains(named), "{refusal}");
        }
        rendered("Helm writes `{{ .Values.name }}`.\n\n```\n{{ name }} [^1]\n```\n")?;
        Ok(())
    }
}
