//! The plain text of an issue, in lines that every mail program shows.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{html::OPTIONS, links::SiteLinks};

/// The longest line.
const WIDTH: usize = 72;

/// The plain text of these words.
///
/// # Errors
///
/// If a link leads nowhere.
pub fn render(markdown: &str, links: &SiteLinks) -> anyhow::Result<String> {
    let mut writer = Writer::default();
    for event in Parser::new_ext(markdown, OPTIONS) {
        writer.event(event, links)?;
    }
    writer.end_block();
    Ok(writer.blocks.join("\n"))
}

#[derive(Default)]
struct Writer {
    /// What is done; an empty one is an empty line.
    blocks: Vec<String>,
    block: String,
    /// The number of the next item of each list that is open, where it has numbers.
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// What stands before the block, and is as wide before its further lines.
    mark: String,
    link: Option<String>,
    is_code: bool,
}

impl Writer {
    fn event(&mut self, event: Event<'_>, links: &SiteLinks) -> anyhow::Result<()> {
        match event {
            Event::Start(tag) => self.start(tag, links)?,
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) => self.block.push_str(&text),
            Event::SoftBreak => self.block.push(' '),
            Event::HardBreak => self.block.push('\n'),
            Event::Rule => {
                self.block.push_str("* * *");
                self.end_block();
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, tag: Tag<'_>, links: &SiteLinks) -> anyhow::Result<()> {
        match tag {
            Tag::List(first) => {
                self.end_block();
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_block();
                self.mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                };
            }
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::CodeBlock(_) => self.is_code = true,
            Tag::Link { dest_url, .. } => self.link = Some(links.link(&dest_url)?),
            Tag::Image { .. } => self.block.push('['),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::TableRow | TagEnd::TableHead => self.end_block(),
            TagEnd::Item => self.end_block(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::BlockQuote(_) => self.quotes -= 1,
            TagEnd::CodeBlock => {
                self.end_block();
                self.is_code = false;
            }
            TagEnd::TableCell => self.block.push_str("  "),
            TagEnd::Image => self.block.push(']'),
            TagEnd::Link => {
                if let Some(link) = self.link.take() {
                    self.block.push_str(&format!(" ({link})"));
                }
            }
            _ => {}
        }
    }

    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.trim().is_empty() {
            return;
        }
        let indent = "  ".repeat(self.lists.len().saturating_sub(1));
        let first = format!("{}{indent}{}", "> ".repeat(self.quotes), self.mark);
        let further = format!(
            "{}{indent}{}",
            "> ".repeat(self.quotes),
            " ".repeat(self.mark.len())
        );
        self.mark.clear();
        let is_listed = !self.lists.is_empty() || block.ends_with("  ");
        let follows_closely = match self.blocks.last() {
            Some(last) => is_listed && is_item(last),
            None => true,
        };
        if !follows_closely {
            self.blocks.push(String::new());
        }
        let lines = if self.is_code {
            block.trim_end().lines().map(str::to_owned).collect()
        } else {
            wrapped(&block, WIDTH.saturating_sub(further.len()))
        };
        for (number, line) in lines.iter().enumerate() {
            let before = if number == 0 { &first } else { &further };
            self.blocks.push(format!("{before}{line}").trim_end().to_owned());
        }
    }
}

fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ")
        || line
            .split_once(". ")
            .is_some_and(|(number, _)| number.parse::<u64>().is_ok())
}

/// Lines of at most so many characters, but for words that are longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split_whitespace() {
            let fits = current.chars().count() + 1 + word.chars().count() <= width;
            if !current.is_empty() && !fits {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn words_become_lines() -> anyhow::Result<()> {
        let links = SiteLinks::new(Url::parse("https://oculant.example")?, "x");
        let markdown = "## Start\n\nOne *two*\n[three](https://example.org/).\n\n- a\n- b\n\n> said\n\n![a house](/h.png)\n";
        assert_eq!(
            render(markdown, &links)?,
            "Start\n\nOne two three (https://example.org/).\n\n- a\n- b\n\n> said\n\n[a house]"
        );
        let long = render(&"word ".repeat(40), &links)?;
        assert!(long.lines().all(|line| line.len() <= WIDTH), "{long}");
        assert_eq!(long.lines().count(), 3);
        Ok(())
    }
}
