//! The templates: a folder per mail (`subject.txt.j2`, `body.txt.j2`, `body.html.j2`)
//! on a common base, built into the program.

use std::borrow::Cow;

use minijinja::{
    AutoEscape, Environment, UndefinedBehavior, Value, escape_formatter, syntax::SyntaxConfig, value::Serde,
};
use site_events::Channel;
use visitor::invisible::without_invisible;

use crate::Brand;

/// The kinds of mails there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What a channel tells of an event.
    Event(Channel),
    /// An issue of the newsletter.
    Issue,
    /// What the operator hears of dead letters.
    DeadLetters,
}

/// The folder of one mail and its three files.
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

const FOLDERS: [[(&str, &str); 3]; Channel::ALL.len() + 2] = [
    folder!("sales-lead"),
    folder!("contact-acknowledgement"),
    folder!("newsletter-confirmation"),
    folder!("newsletter-welcome"),
    folder!("newsletter-goodbye"),
    folder!("recruiter-application"),
    folder!("application-acknowledgement"),
    folder!("newsletter-issue"),
    folder!("dead-letters"),
];

/// The folder of a kind of mail.
fn folder(kind: Kind) -> &'static str {
    let channel = match kind {
        Kind::DeadLetters => return "dead-letters",
        Kind::Issue => return "newsletter-issue",
        Kind::Event(channel) => channel,
    };
    match channel {
        Channel::SalesLead => "sales-lead",
        Channel::ContactAcknowledgement => "contact-acknowledgement",
        Channel::NewsletterConfirmation => "newsletter-confirmation",
        Channel::NewsletterWelcome => "newsletter-welcome",
        Channel::NewsletterGoodbye => "newsletter-goodbye",
        Channel::RecruiterApplication => "recruiter-application",
        Channel::ApplicationAcknowledgement => "application-acknowledgement",
    }
}

/// A mail as its templates render it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The subject, as the template has it.
    pub subject: String,
    /// The plain text.
    pub text: String,
    /// The same as HTML.
    pub html: String,
}

/// All templates, parsed.
pub struct Templates(Environment<'static>);

impl Templates {
    /// Parses every template. What they show of the company is the same in every mail.
    ///
    /// # Errors
    ///
    /// If one of them cannot be parsed.
    pub fn new(brand: &Brand, site_url: &str) -> Result<Self, minijinja::Error> {
        let mut environment = Environment::new();
        // A name that is not there is a mistake, never an empty place in a mail.
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
        // Whatever a value holds, also one of an event from before names were read so: it turns none of our words round.
        environment.set_formatter(|out, state, value| {
            match value.as_str().filter(|_| !value.is_safe()).map(without_invisible) {
                Some(Cow::Owned(visible)) => escape_formatter(out, state, &Value::from(visible)),
                Some(Cow::Borrowed(_)) | None => escape_formatter(out, state, value),
            }
        });
        environment.add_global("brand", Serde(brand.clone()));
        environment.add_global("site_url", site_url);
        for (name, source) in COMMON.into_iter().chain(FOLDERS.into_iter().flatten()) {
            environment.add_template(name, source)?;
        }
        Ok(Self(environment))
    }

    /// A mail with these values in it.
    ///
    /// # Errors
    ///
    /// If a template asks for what it is not given.
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
