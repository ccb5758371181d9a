//! Fills a page of the site with what was entered and what is wrong with it. The page says by attributes where:
//!
//! - `data-refusal`: the element that holds the sentence;
//! - `data-error-of="<field>"`: what is wrong with a field, by an id that ends with `-error`; it goes where nothing is;
//! - `name` of an `input` or `textarea` in a form: the field;
//! - `data-challenge`: the way round a challenge, for whom no script can solve it; it goes where none is asked;
//! - `data-other-way`: where the page does not say itself how else the company is reached;
//! - `data-form-page`: a link to the page with the form.
//!
//! The front ends' side of it is `frontends/kit/src/refused-page.tsx`.

use lol_html::{
    RewriteStrSettings, element,
    errors::RewritingError,
    html_content::{ContentType, Element},
    rewrite_str,
};

use super::form_values::FormValues;
use crate::{api::HONEYPOT, api_error::ApiError, contact_details::OTHER_WAY};

/// The page, filled.
///
/// # Errors
///
/// The page is no HTML that can be read.
pub fn fill(html: &str, form: &str, error: &ApiError, values: &FormValues) -> Result<String, RewritingError> {
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("[data-refusal]", |place| {
            place.set_inner_content(error.sentence(), ContentType::Text);
            Ok(())
        }))
        .append_element_content_handler(element!("[data-challenge]", |way_round| {
            if !error.is_challenge() {
                way_round.remove();
            }
            Ok(())
        }))
        .append_element_content_handler(element!("[data-other-way]", |place| {
            place.set_inner_content(&OTHER_WAY, ContentType::Text);
            Ok(())
        }))
        .append_element_content_handler(element!("[data-form-page]", |link| {
            link.set_attribute("href", form)?;
            Ok(())
        }))
        .append_element_content_handler(element!("form [name]", |field| {
            let name = field.get_attribute("name").unwrap_or_default();
            if error.field(&name).is_none() {
                clear_error(field)?;
            }
            if let Some(text) = values.text(&name).filter(|_| name != HONEYPOT) {
                fill_field(field, text)?;
            }
            Ok(())
        }))
        .append_element_content_handler(element!("[data-error-of]", |place| {
            let name = place.get_attribute("data-error-of").unwrap_or_default();
            match error.field(&name) {
                Some(sentence) => place.set_inner_content(sentence, ContentType::Text),
                None => place.remove(),
            }
            Ok(())
        }));
    rewrite_str(html, settings)
}

type Handled = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Nothing is wrong with this field.
fn clear_error(field: &mut Element<'_, '_>) -> Handled {
    field.remove_attribute("aria-invalid");
    let described = field.get_attribute("aria-describedby").unwrap_or_default();
    let others: Vec<&str> = described
        .split_ascii_whitespace()
        .filter(|id| !id.ends_with("-error"))
        .collect();
    if others.is_empty() {
        field.remove_attribute("aria-describedby");
    } else {
        field.set_attribute("aria-describedby", &others.join(" "))?;
    }
    Ok(())
}

fn fill_field(field: &mut Element<'_, '_>, text: &str) -> Handled {
    match field.tag_name().as_str() {
        "input" if field.get_attribute("type").as_deref() != Some("file") => {
            field.set_attribute("value", &escaped(text))?;
        }
        // The first line break is none of the text's (HTML, 13.1.2.5).
        "textarea" => field.set_inner_content(&format!("\n{text}"), ContentType::Text),
        _ => {}
    }
    Ok(())
}

/// The library escapes text, but of an attribute's value the quotes alone.
fn escaped(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    const PAGE: &str = r#"<p data-refusal="">Words</p><form method="post">
<input name="name" aria-invalid="true" aria-describedby="a-error">
<input name="email" aria-invalid="true" aria-describedby="b-error b-limit">
<textarea name="message"></textarea><input type="file" name="resume"><input name="website">
<p id="a-error" data-error-of="name">Wrong</p><p id="b-error" data-error-of="email">Wrong</p>
</form><p data-challenge="">Or write to us.</p><a href="/" data-form-page="">Back</a>"#;

    fn filled(error: &ApiError, values: FormValues) -> String {
        fill(PAGE, "/contact", error, &values).expect("the page is HTML")
    }

    fn error(fields: &[(&str, &str)]) -> ApiError {
        let fields = fields
            .iter()
            .map(|(name, sentence)| ((*name).into(), (*sentence).into()));
        ApiError::of(StatusCode::UNPROCESSABLE_ENTITY).with_fields(fields.collect())
    }

    #[test]
    fn what_is_wrong_stands_at_its_field_and_nowhere_else() {
        let page = filled(
            &error(&[("name", "Tell us <who> you are.")]),
            FormValues::default(),
        );
        assert!(
            page.contains("<p data-refusal=\"\">Please check the marked fields.</p>"),
            "{page}"
        );
        assert!(
            page.contains("<input name=\"name\" aria-invalid=\"true\" aria-describedby=\"a-error\">"),
            "{page}"
        );
        assert!(
            page.contains("data-error-of=\"name\">Tell us &lt;who&gt; you are.</p>"),
            "{page}"
        );
        assert!(
            page.contains("<input name=\"email\" aria-describedby=\"b-limit\">"),
            "{page}"
        );
        assert!(!page.contains("data-error-of=\"email\""), "{page}");
        assert!(page.contains("<a href=\"/contact\""), "{page}");
    }

    #[test]
    fn the_way_round_a_challenge_stands_where_one_is_asked_and_nowhere_else() {
        let page = filled(&ApiError::challenge(None), FormValues::default());
        assert!(page.contains("Or write to us."), "{page}");
        assert!(page.contains("Please try again in a few minutes.</p>"), "{page}");
        assert!(!filled(&error(&[]), FormValues::default()).contains("Or write to us."));
    }

    #[test]
    fn what_was_entered_is_text_wherever_it_stands() {
        let nasty = "\"><script>alert('&quot;')</script>\r\n🎥</textarea>";
        let page = filled(
            &error(&[]),
            [
                ("name", nasty),
                ("message", nasty),
                ("resume", "cv.pdf"),
                ("website", "x"),
            ]
            .into(),
        );
        assert!(!page.contains("<script"), "{page}");
        assert!(
            page.contains(" value=\"&quot;&gt;&lt;script&gt;alert('&amp;quot;')"),
            "{page}"
        );
        assert!(
            page.contains("<textarea name=\"message\">\n\"&gt;&lt;script&gt;"),
            "{page}"
        );
        assert!(page.contains("🎥&lt;/textarea&gt;</textarea>"), "{page}");
        assert!(page.contains("<input type=\"file\" name=\"resume\">"), "{page}");
        assert!(page.contains("<input name=\"website\">"), "{page}");
    }

    #[test]
    fn the_first_line_break_of_a_message_stays() {
        let page = filled(&error(&[]), [("message", "\nHello")].into());
        assert!(
            page.contains("<textarea name=\"message\">\n\nHello</textarea>"),
            "{page}"
        );
    }
}
