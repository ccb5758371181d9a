//! One letter of each kind, and of each kind's harder cases, with fixed ids and times:
//! for the preview and the snapshots.

use site_events::{
    Attribution, Event, EventData,
    event::{
        CareersApplied, ContactReceived, NewsletterConfirmed, NewsletterRequested, NewsletterUnsubscribed,
        StoredResume,
    },
};
use site_service::RequestId;
use time::{OffsetDateTime, macros::datetime};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

use crate::{
    desk::Desk,
    mails::{MailError, careers, contact, newsletter},
    message::Letter,
};

/// When the samples' events happened.
pub const TIME: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

/// Every sample by name.
pub async fn letters(desk: &Desk) -> Result<Vec<(&'static str, Letter)>, MailError> {
    let message = event(written("Asha Rao", MESSAGE));
    let hard_message = event(written("ஆஷா <b>ராவ்</b>", &HARD_MESSAGE.repeat(2)));
    let application = event(applied("Asha Rao", Some(resume())));
    let hard_application = event(CareersApplied {
        phone: None,
        experience: None,
        attribution: None,
        ..applied("Zoë Müller-Ångström of https://casino.example", None)
    });
    let requested = event(NewsletterRequested {
        email: email("asha@example.com"),
        expires: TIME + time::Duration::hours(48),
        attribution: None,
    });
    let confirmed = event(NewsletterConfirmed {
        email: email("asha@example.com"),
    });
    let ended = event(NewsletterUnsubscribed {
        email: email("asha@example.com"),
    });
    Ok(vec![
        ("sales-lead", contact::lead(desk, &message)),
        ("sales-lead-hard", contact::lead(desk, &hard_message)),
        (
            "contact-acknowledgement",
            contact::acknowledgement(desk, &message)?,
        ),
        (
            "contact-acknowledgement-hard",
            contact::acknowledgement(desk, &hard_message)?,
        ),
        (
            "newsletter-confirmation",
            newsletter::confirmation(desk, &requested)?,
        ),
        ("newsletter-welcome", newsletter::welcome(desk, &confirmed)?),
        ("newsletter-goodbye", newsletter::goodbye(desk, &ended)?),
        (
            "recruiter-application",
            careers::application(desk, &application, TIME).await?,
        ),
        (
            "recruiter-application-hard",
            careers::application(desk, &hard_application, TIME).await?,
        ),
        (
            "application-acknowledgement",
            careers::acknowledgement(desk, &application)?,
        ),
        (
            "application-acknowledgement-hard",
            careers::acknowledgement(desk, &hard_application)?,
        ),
    ])
}

const MESSAGE: &str = "Hello,\n\nwe run eleven shops in Chennai and Coimbatore, with 140 cameras that nobody \
    watches after nine. Can your system work with what is on the walls today?\n\nBest regards\nAsha";

const HARD_MESSAGE: &str = "<script>alert(1)</script> & \"quotes\" — naïve café, 你好, 🙂\n\
    averyveryveryveryveryveryveryveryveryveryveryveryveryverylongwordwithoutanyplacetobreakitatall\n";

const COVER_LETTER: &str = "Dear team,\n\nfor my final project I taught a Raspberry Pi to count the buses that do \
    not stop. I would like to learn how that is done properly.\n\nAsha";

fn written(name: &str, text: &str) -> ContactReceived {
    ContactReceived {
        name: name.to_owned(),
        email: email("asha@example.com"),
        message: text.to_owned(),
        attribution: Some(came_by_an_advertisement()),
    }
}

fn applied(name: &str, resume: Option<StoredResume>) -> CareersApplied {
    CareersApplied {
        name: name.to_owned(),
        email: email("asha@example.com"),
        phone: Some("+91 98400 00000".to_owned()),
        position: "Computer Vision Intern".to_owned(),
        experience: Some("1 year".to_owned()),
        cover_letter: COVER_LETTER.to_owned(),
        resume,
        attribution: Some(Attribution {
            page: Some("/careers".to_owned()),
            referrer: Some("https://www.example.edu/jobs".to_owned()),
            ..Attribution::default()
        }),
    }
}

fn came_by_an_advertisement() -> Attribution {
    Attribution {
        page: Some("/solutions".to_owned()),
        referrer: Some("https://www.example.com/".to_owned()),
        utm_source: Some("newspaper".to_owned()),
        utm_medium: Some("banner".to_owned()),
        utm_campaign: Some("monsoon".to_owned()),
        ..Attribution::default()
    }
}

fn resume() -> StoredResume {
    StoredResume {
        key: "resumes/0123456789abcdef0123456789abcdef/0199c3a4-7b1e-7000-8000-000000000001/asha-rao.pdf"
            .to_owned(),
        file_name: "asha-rao.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
        size: 184_320,
        sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
    }
}

fn email(raw: &str) -> EmailAddress {
    EmailAddress::parse(raw).expect("the sample is an address")
}

fn event<D: EventData>(data: D) -> Event<D> {
    let person = PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned());
    let person = person.expect("the sample is an id");
    let request = RequestId::accept(Some("visit-0001"));
    Event::new(&request, D::TYPE.id_for(Uuid::from_u128(7)), &person, TIME, data)
}
