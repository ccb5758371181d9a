//! Templates: a folder per mail (`subject.txt.j2`, `body.txt.j2`, `body.html.j2`) on a common base, built into the
//! binary.

use std::borrow::Cow;

use minijinja::{
    AutoEscape, Environment, UndefinedBehavior, Value, escape_formatter, syntax::SyntaxConfig, value::Serde,
};
use site_events::Channel;
use visitor::invisible::without_invisible;

use crate::Brand;

/// Kinds of mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A channel's mail for an event.
    Event(Channel),
    /// An issue of the newsletter.
    Issue,
    /// The dead-letter digest for the operator.
    DeadLetters,
}

macro_rules! folder {
    ($name:literal) => {
        [
            (
                concat!($name, "/subject.txt"),
                include_str!(concat!("../templates/", $name, "/subject.txt.j2")),
            ),
            (
                concat!($name, "/body.txt"),
                include_str!(concat!("../templates/", $name, "/body.txt.j2")),
            ),
            (
                concat!($name, "/body.html"),
                include_str!(concat!("../templates/", $name, "/body.html.j2")),
            ),
        ]
    };
}

const COMMON: [(&str, &str); 4] = [
    ("base.txt", include_str!("../templates/base.txt.j2")),
    ("base.html", include_str!("../templates/base.html.j2")),
    ("parts.txt", include_str!("../templates/parts.txt.j2")),
    ("parts.html", include_str!("../templates/parts.html.j2")),
];

macro_rules! folders {
    ($($kind:pat => $folder:literal,)*) => {
        const FOLDERS: &[[(&str, &str); 3]] = &[$(folder!($folder)),*];

        fn folder(kind: Kind) -> &'static str {
            match kind {
                $($kind => $folder,)*
            }
        }
    };
}

folders! {
    Kind::Event(Channel::SalesLead) => "sales-lead",
    Kind::Event(Channel::ContactAcknowledgement) => "contact-acknowledgement",
    Kind::Event(Channel::NewsletterConfirmation) => "newsletter-confirmation",
    Kind::Event(Channel::NewsletterWelcome) => "newsletter-welcome",
    Kind::Event(Channel::NewsletterGoodbye) => "newsletter-goodbye",
    Kind::Event(Channel::RecruiterApplication) => "recruiter-application",
    Kind::Event(Channel::ApplicationAcknowledgement) => "application-acknowledgement",
    Kind::Issue => "newsletter-issue",
    Kind::DeadLetters => "dead-letters",
}

/// A rendered mail.
#[derive(Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The subject.
    pub subject: String,
    /// The plain text.
    pub text: String,
    /// The HTML.
    pub html: String,
}

/// All templates, parsed.
pub struct Templates(Environment<'static>);

impl Templates {
    /// Parses every template. Every template can use `brand` and `site_url`.
    ///
    /// # Errors
    ///
    /// If a template cannot be parsed.
    pub fn new(brand: &Brand, site_url: &str) -> Result<Self, minijinja::Error> {
        let mut environment = Environment::new();
        // Makes an unknown name an error. By default, it renders as empty text.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .keep_trailing_newline(true)
                .build()?,
        );
        environment.set_auto_escape_callback(|name| {
            if name.ends_with(".txt") {
                AutoEscape::None
            } else {
                AutoEscape::Html
            }
        });
        // Old events may hold invisible characters, which could reverse the text around them.
        environment.set_formatter(|out, state, value| {
            match value.as_str().filter(|_| !value.is_safe()).map(without_invisible) {
                Some(Cow::Owned(visible)) => escape_formatter(out, state, &Value::from(visible)),
                Some(Cow::Borrowed(_)) | None => escape_formatter(out, state, value),
            }
        });
        environment.add_filter("pad", |text: &str, column: usize| format!("{text:column$}"));
        environment.add_global("brand", Serde(brand.clone()));
        environment.add_global("site_url", site_url);
        for (name, source) in COMMON.iter().chain(FOLDERS.iter().flatten()) {
            environment.add_template(name, source)?;
        }
        Ok(Self(environment))
    }

    /// Renders a mail with these values.
    ///
    /// # Errors
    ///
    /// If a template uses a value that is missing.
    pub fn render(&self, kind: Kind, values: &Value) -> Result<Rendered, minijinja::Error> {
        let folder = folder(kind);
        let render = |file: &str| {
            self.0
                .get_template(&format!("{folder}/{file}"))?
                .render(values.clone())
        };
        Ok(Rendered {
            subject: render("subject.txt")?,
            text: render("body.txt")?,
            html: render("body.html")?,
        })
    }
}
