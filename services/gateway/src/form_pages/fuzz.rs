//! Fuzz target: what a visitor entered, filled into the page of a form. How it is run: docs/testing.md.

use std::{cell::RefCell, collections::BTreeMap};

use bolero::check;
use http::StatusCode;
use lol_html::{RewriteStrSettings, element, rewrite_str, text};

use super::{filling::fill, form_values::FormValues};
use crate::api_error::ApiError;

const ITERATIONS: usize = 500;
/// Of ASCII, the character between records.
const RECORD: u8 = 0x1e;
const PAGE: &str = r#"<!doctype html><html lang="en"><head><title>Contact</title><script>let a = "<b>";</script></head><body>
<p data-refusal="">Words</p><form method="post"><input name="name" aria-invalid="true" aria-describedby="n-error n-limit">
<textarea name="message" aria-describedby="m-error"></textarea><input type="file" name="resume"><input name="website">
<p id="n-error" data-error-of="name">Wrong</p><p id="m-error" data-error-of="message">Wrong</p></form>
<p data-challenge="">Or write to us.</p><a href="/" data-form-page="">Back</a></body></html>"#;

/// A page as a browser has it: its elements with the names of their attributes, values of `input`, and texts by their elements.
#[derive(Debug, Default, PartialEq)]
struct Parsed {
    elements: Vec<(String, Vec<String>)>,
    values: Vec<String>,
    refusal: String,
    message: String,
    errors: String,
}

fn parsed(html: &str) -> Parsed {
    let parsed = RefCell::new(Parsed::default());
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("*", |element| {
            let names = element.attributes().iter().map(|attribute| attribute.name());
            let found = (element.tag_name(), names.collect());
            let mut parsed = parsed.borrow_mut();
            parsed.elements.push(found);
            parsed.values.extend(element.get_attribute("value"));
            Ok(())
        }))
        .append_element_content_handler(text!("[data-refusal]", |text| {
            parsed.borrow_mut().refusal.push_str(text.as_str());
            Ok(())
        }))
        .append_element_content_handler(text!("textarea", |text| {
            parsed.borrow_mut().message.push_str(text.as_str());
            Ok(())
        }))
        .append_element_content_handler(text!("[data-error-of]", |text| {
            parsed.borrow_mut().errors.push_str(text.as_str());
            Ok(())
        }));
    rewrite_str(html, settings).expect("it is HTML");
    parsed.into_inner()
}

/// What the library reads of a value: of one that begins with a byte order mark, what is behind it.
fn value_of(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The text that a browser reads there.
fn read(text: &str) -> String {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"");
    text.replace("&amp;", "&")
}

fn filled(name: &str, message: &str, sentence: &str) -> Parsed {
    let fields: BTreeMap<String, String> = [("name".to_owned(), sentence.to_owned())].into();
    let error = ApiError::with_message(StatusCode::UNPROCESSABLE_ENTITY, sentence).with_fields(fields);
    let values = FormValues::from([
        ("name", name),
        ("message", message),
        ("resume", name),
        ("website", name),
    ]);
    parsed(&fill(PAGE, "/contact", &error, &values).expect("the page is HTML"))
}

/// Three records: a line, a text, and a sentence of a service, which may repeat what was entered.
#[test]
fn whatever_was_entered_the_page_stays_as_it_is_and_shows_it_as_text() {
    let usual = filled("x", "x", "x");
    check!(name = "form-pages")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let mut records = input
                .splitn(3, |byte| *byte == RECORD)
                .map(String::from_utf8_lossy);
            let [name, message, sentence] = [(); 3].map(|()| records.next().unwrap_or_default());
            let parsed = filled(&name, &message, &sentence);
            assert_eq!(parsed.elements, usual.elements);
            let values: Vec<String> = parsed.values.iter().map(|value| read(value)).collect();
            assert_eq!(values, [value_of(&name)]);
            let shown = read(&parsed.message);
            assert_eq!(shown.strip_prefix('\n'), Some(&*message));
            assert_eq!(read(&parsed.refusal), sentence);
            assert_eq!(read(&parsed.errors), sentence);
        });
}
