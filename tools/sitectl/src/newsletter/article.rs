//! Renders the mail of an issue from Markdown. Mail programs drop style sheets and support few elements, so each
//! element has inline styles. The classes are for the dark theme of the mail's frame.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use pulldown_cmark::{
    CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeWithOffset, html::push_html,
};

use super::{faults::Findings, links::Links};

const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_FOOTNOTES);
/// Attributes of each element.
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
const TEXT_WIDTH: usize = 72;
/// Minimum width of a table's column in plain text: most words fit.
const TEXT_COLUMN: usize = 12;

/// HTML of an article. Adds faults to `found`.
///
/// # Errors
///
/// If the article contains HTML, or a picture of another site.
pub fn html(markdown: &str, links: &Links, found: &mut Findings) -> anyhow::Result<String> {
    let mut writer = Writer {
        links,
        found,
        body: Vec::new(),
        notes: BTreeMap::new(),
        labels: Vec::new(),
        after_picture: Vec::new(),
        note: None,
        is_code: false,
    };
    let parser = Parser::new_ext(markdown, OPTIONS).into_offset_iter();
    for (event, range) in TextMergeWithOffset::new(parser) {
        writer.event(event, &markdown[range])?;
    }
    let Writer { mut body, notes, .. } = writer;
    if !notes.is_empty() {
        body.push(Event::Html("<h2>References</h2>\n<ol>\n".into()));
        body.extend(notes.into_values().flatten());
        body.push(Event::Html("</ol>\n".into()));
    }
    let mut html = String::new();
    push_html(&mut html, body.into_iter());
    Ok(styled(html))
}

/// Rewrites an article for a mail.
struct Writer<'a, 'l> {
    links: &'l Links,
    found: &'l mut Findings,
    /// Everything but footnotes.
    body: Vec<Event<'a>>,
    notes: BTreeMap<usize, Vec<Event<'a>>>,
    /// Labels of footnotes, in order of reference.
    labels: Vec<CowStr<'a>>,
    /// Caption of the current picture.
    after_picture: Vec<Event<'a>>,
    note: Option<usize>,
    is_code: bool,
}

impl<'a> Writer<'a, '_> {
    fn event(&mut self, event: Event<'a>, written: &str) -> anyhow::Result<()> {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                bail!("it contains HTML ({}): write it as Markdown", html.trim())
            }
            Event::Text(words) => {
                if !self.is_code {
                    self.found.check(written);
                }
                self.push(Event::Text(words));
            }
            Event::Start(Tag::FootnoteDefinition(label)) => {
                self.note = Some(self.number(label));
                self.push_html("<li>");
            }
            Event::End(TagEnd::FootnoteDefinition) => {
                self.push_html("</li>\n");
                self.note = None;
            }
            Event::FootnoteReference(label) => {
                let number = self.number(label);
                self.push_html(format!("<sup>{number}</sup>"));
            }
            // Every heading becomes `h2`, because only the mail's title is above it.
            Event::Start(Tag::Heading { .. }) => self.push_html("<h2>"),
            Event::End(TagEnd::Heading(_)) => self.push_html("</h2>\n"),
            Event::Start(Tag::Link {
                link_type, dest_url, ..
            }) if link_type != LinkType::Email => {
                self.found.check(&dest_url);
                let link = self.links.link(&dest_url, self.found);
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

    /// Writes a picture with its caption. A drawing of the blog becomes its alternative text, linked to the post.
    fn picture(&mut self, written: &str, caption: CowStr<'a>) -> anyhow::Result<()> {
        self.found.check(&caption);
        let (begin, end) = match self.links.picture(written, self.found)? {
            Some(address) => {
                let image = Tag::Image {
                    link_type: LinkType::Inline,
                    dest_url: String::from(address).into(),
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
        let part = match self.note {
            Some(number) => self.notes.entry(number).or_default(),
            None => &mut self.body,
        };
        part.push(event);
    }

    fn push_html(&mut self, html: impl Into<CowStr<'a>>) {
        self.push(Event::Html(html.into()));
    }

    fn number(&mut self, label: CowStr<'a>) -> usize {
        let mut labels = self.labels.iter();
        let known = labels.position(|known| known.eq_ignore_ascii_case(&label));
        known.unwrap_or_else(|| {
            self.labels.push(label);
            self.labels.len() - 1
        }) + 1
    }
}

/// Plain text of an article, with numbered links below it.
///
/// # Errors
///
/// If a table has too many columns for the width.
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

/// Adds inline styles to elements. Text that looks like an element is already escaped.
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

    fn faults(markdown: &str) -> anyhow::Result<Vec<String>> {
        let links = Links::new("https://oculant.example", "x", None)?;
        let mut found = Findings::default();
        html(markdown, &links, &mut found)?;
        Ok(found.faults)
    }

    fn rendered(markdown: &str) -> anyhow::Result<(String, String)> {
        let links = Links::new("https://oculant.example", "x", None)?;
        let html = html(markdown, &links, &mut Findings::default())?;
        let text = text(&html)?;
        Ok((html, text))
    }

    #[test]
    fn markdown_is_rendered_as_escaped_html() -> anyhow::Result<()> {
        // HTML in Markdown is rejected, and `<two>` is an HTML element.
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
    fn plain_text_has_lines_of_a_width_and_footnotes_below() -> anyhow::Result<()> {
        let (html, text) = rendered(
            "One[^b], two[^A], one[^b].\n\n[^a]: Of *two*.\n[^b]: Of [one](https://example.org/).\n\nThe end.\n",
        )?;
        assert!(!html.contains("[^"), "{html}");
        assert_eq!(
            text,
            "One¹, two², one¹.\n\nThe end.\n\n## References\n1. Of [one][1].\n2. Of two.\n\n[1]: https://example.org/"
        );

        let (_, text) = rendered(
            "## Start\n\nOne *two*\n[three](https://example.org/).\n\n- a\n- b\n\n> said\n\n![a house](/h.png \"Home\")\n",
        )?;
        for part in [
            "Start\n\nOne two [three][1].\n",
            "* a\n* b\n",
            "\n> said\n",
            "[a house] Home",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let (_, long) = rendered(&"word ".repeat(40))?;
        assert!(long.lines().all(|line| line.len() <= TEXT_WIDTH), "{long}");
        assert_eq!(long.lines().count(), 3);

        let words = "many words ".repeat(6);
        let (_, table) = rendered(&format!(
            "| Storage | Mind |\n|---|---|\n| On a card | {words} |\n| In the cloud | the key[^1] |\n\n[^1]: Yes.\n"
        ))?;
        let rows: Vec<&str> = table.lines().filter(|line| line.contains('│')).collect();
        let fit = rows.iter().all(|row| row.chars().count() <= TEXT_WIDTH);
        assert!(rows.len() > 3 && fit && table.contains("the key¹"), "{table}");
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
    fn mistakes_in_an_article_are_named() -> anyhow::Result<()> {
        for (markdown, named) in [
            (
                "Hello\n{{ name }}!\n",
                "nothing fills in the placeholder {{ name }}",
            ),
            ("Hello {{first_name}}\n", "{{first_name}}"),
            ("{% if name %}Hello\n", "{% if name %}"),
            ("Hello *|FNAME|*,\n", "*|FNAME|*"),
            ("Hello ${name}\n", "${name}"),
            ("Hello <%= name %>\n", "<%= name %>"),
            ("Hello {first_name},\n", "{first_name}"),
            ("Hello %FIRSTNAME%,\n", "%FIRSTNAME%"),
            ("Hello %recipient.name%,\n", "%recipient.name%"),
            ("Hello %%FirstName%%,\n", "%FirstName%"),
            ("Hello {$name}, ${ 1 }\n", "{$name}"),
            ("Hello ${ name }\n", "${ name }"),
            ("Hello [[name]]\n", "[[name]]"),
            ("Hello [First Name],\n", "[First Name]"),
            ("Hello [firstname,fallback=there]\n", "[firstname,fallback=there]"),
            ("Hello {{ имя }}\n", "{{ имя }}"),
            ("Hello,{name}!\n", "placeholder {name}"),
            ("[a](https://example.org/?to={{email}})\n", "{{email}}"),
            ("![Of {{ name }}](/x.png)\n", "{{ name }}"),
            ("One[^1].\n", "the footnote [^1] has no text"),
            ("One[^a]: two.\n\n[^b]: y\n", "the footnote [^a] has no text"),
            ("## One\n\n[a](#one)\n", "the link #one leads nowhere"),
            ("[a]()\n", "the link  leads nowhere"),
            ("[a](mailto:)\n", "leads nowhere"),
            ("[a](javascript:x)\n", "leads nowhere"),
            ("![a]()\n", "the picture  is missing"),
        ] {
            let found = faults(markdown)?;
            assert_eq!(found.len(), 1, "{markdown}: {found:?}");
            assert!(found[0].contains(named), "{markdown}: {found:?}");
        }
        Ok(())
    }

    #[test]
    fn intended_markdown_is_not_a_mistake() -> anyhow::Result<()> {
        for markdown in [
            "Helm writes `{{ .Values.name }}`.\n\n```\n{{ name }} [^1] ${HOME}\n```\n\n    {% if %}\n",
            "One[^1], again[^1].\n\n[^1]: With a [link](https://example.org/).\n\n    And a second paragraph.\n",
            "A quote [sic] and [1] and [^] and \\[^9].\n",
            "100 %% and 5 %% of {x}, {a, b} and {}; {{}} and ${100}.\n",
            "From 5% to 10%, 5%/10%, 12%net%; /blog/{id}, x^{ab} and [[PDF]](/contact).\n",
            "As \\[a](b c) and a list[0] (of 3), [![a](/x.png)](/contact), [b](</a b>).\n",
            "A list[names], [name](/contact), [their name] and [[1]]; `[[name]]` and C:\\\\%20%20x.\n",
            "See [all](https://example.org/%EF%BB%BF%E2%80%99).\n",
            "## One thing\n\nUp[^n]\n\n[^n]: A note.\n",
            "[a][b], [c][], <https://example.org/>, <me@example.org>\n\n[b]: /contact\n[c]: tel:+911234567\n",
            "| a | b |\n|---|---|\n|*a*|b|*c*|\n",
        ] {
            assert_eq!(faults(markdown)?, [""; 0], "{markdown}");
        }
        Ok(())
    }
}
