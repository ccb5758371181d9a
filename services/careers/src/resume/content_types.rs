//! `[Content_Types].xml`: what each part of a package is (ECMA-376, part 2, 6.2.3).

use std::io::BufRead;

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

/// The document of a word processor, without macros (ECMA-376, part 1, 11.3.10).
const WORD_DOCUMENT: &str =
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
/// What Office calls it.
const USUAL_PART: &str = "/word/document.xml";

/// What the list says of documents.
#[derive(Default)]
struct Documents {
    /// The part that is one by its own line.
    part: Option<String>,
    /// Whether parts are that end in `.xml`.
    is_default: bool,
    /// Whether the usual part is something else.
    is_usual_another: bool,
}

/// The name of the part that is the document; `None` where there is none, or the list cannot be read.
pub fn document_part(list: impl BufRead) -> Option<String> {
    let mut reader = Reader::from_reader(list);
    let (mut buffer, mut documents) = (Vec::new(), Documents::default());
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).ok()? {
            Event::Start(element) | Event::Empty(element) => documents.read(&element)?,
            // Not allowed in packages (ECMA-376, part 2, 6.1.4), and the way to make a short text long.
            Event::DocType(_) => return None,
            Event::Eof => break,
            _ => {}
        }
    }
    let by_default = (documents.is_default && !documents.is_usual_another).then(|| USUAL_PART.to_owned());
    documents.part.or(by_default)
}

impl Documents {
    fn read(&mut self, element: &BytesStart<'_>) -> Option<()> {
        let is_document = || {
            let told = attribute(element, "ContentType")?;
            Some(told.eq_ignore_ascii_case(WORD_DOCUMENT))
        };
        match element.local_name().as_ref() {
            b"Override" => {
                let part = attribute(element, "PartName")?;
                if is_document()? {
                    self.part.get_or_insert(part);
                } else if part.eq_ignore_ascii_case(USUAL_PART) {
                    self.is_usual_another = true;
                }
            }
            b"Default" => {
                let is_xml = attribute(element, "Extension")?.eq_ignore_ascii_case("xml");
                self.is_default |= is_xml && is_document()?;
            }
            _ => {}
        }
        Some(())
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).ok()??;
    String::from_utf8(found.value.into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(lines: &str) -> Option<String> {
        let list = format!(
            "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\r\n\
             <Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">{lines}</Types>"
        );
        document_part(list.as_bytes())
    }

    fn line(part: &str, content_type: &str) -> String {
        format!("<Override PartName=\"{part}\" ContentType=\"{content_type}\"/>")
    }

    fn default(content_type: &str) -> String {
        format!("<Default Extension=\"xml\" ContentType=\"{content_type}\"></Default>")
    }

    #[test]
    fn the_document_is_named_by_its_own_line_or_by_the_ending_of_its_part() {
        let usual = Some(USUAL_PART.to_owned());
        assert_eq!(list(&line(USUAL_PART, WORD_DOCUMENT)), usual);
        assert_eq!(
            list(&(default("application/xml") + &line(USUAL_PART, WORD_DOCUMENT))),
            usual
        );
        // As Microsoft's library for developers writes it.
        assert_eq!(list(&default(WORD_DOCUMENT)), usual);
        // As Word writes it in the browser.
        let online = list(&line("/word/document2.xml", WORD_DOCUMENT));
        assert_eq!(online.as_deref(), Some("/word/document2.xml"));
    }

    #[test]
    fn workbooks_templates_and_documents_with_macros_are_none() {
        for other in [
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
            "application/vnd.ms-word.document.macroEnabled.main+xml",
            "text/plain",
        ] {
            assert_eq!(list(&line(USUAL_PART, other)), None, "{other}");
            assert_eq!(
                list(&(default(WORD_DOCUMENT) + &line(USUAL_PART, other))),
                None,
                "{other}"
            );
        }
    }

    #[test]
    fn what_is_no_list_names_nothing() {
        for wrong in [
            "",
            "text",
            "<Types",
            "<Types><Override",
            &format!(
                "<!DOCTYPE t [<!ENTITY a \"b\">]><Types>{}</Types>",
                line(USUAL_PART, WORD_DOCUMENT)
            ),
            "<Types><Override ContentType=\"a\"/></Types>",
            &format!("<!-- {WORD_DOCUMENT} -->"),
        ] {
            assert_eq!(document_part(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
