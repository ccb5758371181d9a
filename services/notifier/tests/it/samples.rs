//! Sample mails for snapshots and previews: each kind, and some harder cases, with fixed ids and times.

use notifier::{
    DigestContent, EarlierApplication, Mail, MailContext, MailEvent, RecruiterExtras, dead_letters, issue,
    mail_of,
};
use serde_json::json;
use site_broker::dead_letters::DeadLetterSummary;
use site_events::{
    Attribution, Channel, Event, EventData, IssueId, Sending,
    event::{
        ActiveContent, Audience, CareersApplied, ContactReceived, NewsletterConfirmed,
        NewsletterIssueRequested, NewsletterRequested, NewsletterUnsubscribed, Scan, StoredResume,
    },
};
use time::{Duration, OffsetDateTime, macros::datetime};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

/// Time of the samples' events.
pub const TIME: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

/// Every sample by name.
pub async fn mails(context: &MailContext) -> anyhow::Result<Vec<(&'static str, Mail)>> {
    let mut mails = vec![
        ("newsletter-issue", issue_of_the_newsletter(context)?),
        ("dead-letters", dead_letters(context, &one_failure())),
        ("dead-letters-hard", dead_letters(context, &many_failures())),
    ];
    for (name, channel, event) in events()? {
        let extras = match name {
            "recruiter-application-hard" => once_more(),
            _ => for_the_first_time(),
        };
        let event = MailEvent::read(channel, &event)?;
        mails.push((name, mail_of(context, &event, extras, TIME).await?));
    }
    Ok(mails)
}

/// Name of a sample mail, its channel, and its event as stored.
type NamedEvent = (&'static str, Channel, Vec<u8>);

fn events() -> anyhow::Result<Vec<NamedEvent>> {
    Ok([contact_events()?, newsletter_events()?, careers_events()?].concat())
}

fn contact_events() -> anyhow::Result<Vec<NamedEvent>> {
    let (lead, answer) = (Channel::SalesLead, Channel::ContactAcknowledgement);
    let message = stored(written("Asha Rao", MESSAGE))?;
    let hard_message = written("ஆஷா <b>ராவ்</b> =?utf-8?B?Q0VP?=", &HARD_MESSAGE.repeat(2));
    let hard_message = stored(hard_message)?;
    Ok(vec![
        ("sales-lead", lead, message.clone()),
        ("sales-lead-hard", lead, hard_message.clone()),
        ("contact-acknowledgement", answer, message),
        ("contact-acknowledgement-hard", answer, hard_message),
    ])
}

fn newsletter_events() -> anyhow::Result<Vec<NamedEvent>> {
    let address = || email("asha@example.com");
    let requested = stored(NewsletterRequested {
        email: address(),
        expires: TIME + Duration::hours(48),
        attribution: None,
    })?;
    let confirmed = stored(NewsletterConfirmed { email: address() })?;
    let ended = stored(NewsletterUnsubscribed { email: address() })?;
    Ok(vec![
        (
            "newsletter-confirmation",
            Channel::NewsletterConfirmation,
            requested,
        ),
        ("newsletter-welcome", Channel::NewsletterWelcome, confirmed),
        ("newsletter-goodbye", Channel::NewsletterGoodbye, ended),
    ])
}

fn careers_events() -> anyhow::Result<Vec<NamedEvent>> {
    let (recruiters, answer) = (Channel::RecruiterApplication, Channel::ApplicationAcknowledgement);
    let application = stored(applied())?;
    // An application without optional fields.
    let hard_application: CareersApplied = serde_json::from_value(json!({
        "name": "Zoë Müller-Ångström of https://casino.example",
        "email": "asha@example.com",
        "position": "Anything with cameras",
        "coverLetter": COVER_LETTER,
    }))?;
    let hard_application = stored(hard_application)?;
    Ok(vec![
        ("recruiter-application", recruiters, application.clone()),
        ("recruiter-application-hard", recruiters, hard_application.clone()),
        ("application-acknowledgement", answer, application),
        ("application-acknowledgement-hard", answer, hard_application),
    ])
}

fn issue_of_the_newsletter(context: &MailContext) -> anyhow::Result<Mail> {
    let event = event(NewsletterIssueRequested {
        name: "smart-home".to_owned(),
        subject: "The smart home that minds its own business".to_owned(),
        preview: "Cameras at home guard the people you love most, and watch them too.".to_owned(),
        html: ISSUE_HTML.to_owned(),
        text: ISSUE_TEXT.to_owned(),
        web: Some("https://www.example.org/blog/smart-home".to_owned()),
        audience: Audience::Subscribers,
    });
    let named = IssueId::named("smart-home");
    let sending = Sending {
        id: named.sending_id(Uuid::from_u128(7)),
        subject: event.subject.clone(),
        requestid: event.requestid.clone(),
        issue: named,
        test: None,
    };
    Ok(issue(context, &event, &sending, &email("asha@example.com"))?)
}

const MESSAGE: &str = "Hello,\n\nwe run eleven shops in Chennai and Coimbatore, with 140 cameras that nobody \
    watches after nine. Can your system work with what is on the walls today?\n\nBest regards\nAsha";

const ISSUE_HTML: &str = "<p>A shop closes in the evening. A home does not, and the people in it have not signed anything. \
    That makes residential security the most delicate branch of our trade.</p>\n<h2>Start with what actually happens</h2>\n\
    <p>People who buy a camera for their home tend to imagine a masked man. What they then see is parcels, cats, branches, \
    delivery riders and themselves.</p>\n";

const ISSUE_TEXT: &str = "A shop closes in the evening. A home does not, and the people in it\nhave not signed anything. \
    That makes residential security the most\ndelicate branch of our trade.\n\nStart with what actually happens\n\n\
    People who buy a camera for their home tend to imagine a masked man.\nWhat they then see is parcels, cats, branches, \
    delivery riders and\nthemselves.";

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
        ..EventData::sample(TIME)
    }
}

fn applied() -> CareersApplied {
    CareersApplied {
        name: "Asha Rao".to_owned(),
        email: email("asha@example.com"),
        position: "Computer Vision Intern".to_owned(),
        cover_letter: COVER_LETTER.to_owned(),
        resume: Some(resume()),
        attribution: Some(Attribution {
            page: Some("/careers".to_owned()),
            referrer: Some("https://www.example.org/jobs".to_owned()),
            ..Attribution::default()
        }),
        ..EventData::sample(TIME)
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
        key: "resumes/0123456789abcdef0123456789abcdef/0199c3a4-7b1e-7000-8000-000000000001".to_owned(),
        file_name: "asha-rao.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
        size_bytes: 184_320,
        scan: Scan::Clean,
        active_content: vec![ActiveContent::JavaScript, ActiveContent::EmbeddedFile],
        sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
    }
}

fn for_the_first_time() -> RecruiterExtras {
    RecruiterExtras {
        earlier: Vec::new(),
        resume: Some(b"%PDF-1.7 of a sample".to_vec()),
    }
}

fn once_more() -> RecruiterExtras {
    let earlier = |position: &str, days| EarlierApplication {
        position: position.to_owned(),
        time: TIME - Duration::days(days),
    };
    RecruiterExtras {
        earlier: vec![earlier("Backend Intern", 40), earlier("Marketing Intern", 3)],
        resume: None,
    }
}

fn one_failure() -> DigestContent {
    DigestContent {
        letters: vec![(41, failed(Channel::ContactAcknowledgement, NO_SUCH_USER))],
        remaining: 0,
        endpoints: Vec::new(),
    }
}

fn many_failures() -> DigestContent {
    let mut letters: Vec<(u64, DeadLetterSummary)> = (41..120)
        .map(|number| {
            (
                number,
                failed(
                    Channel::SalesLead,
                    "<b>the mail server</b> did not take it: 421 4.3.2",
                ),
            )
        })
        .collect();
    letters.push((120, failed(Channel::NewsletterWelcome, NO_SUCH_USER)));
    letters.extend((121..140).map(|number| {
        let reason = format!("the mail server refused it: permanent error ({number})");
        (number, failed(Channel::ApplicationAcknowledgement, &reason))
    }));
    DigestContent {
        letters,
        remaining: 12,
        endpoints: vec![("crm".to_owned(), "it answered 410 Gone".to_owned())],
    }
}

const NO_SUCH_USER: &str =
    "the mail server refused it: permanent error (550): 5.1.1 [address] Recipient address rejected";

fn failed(channel: Channel, reason: &str) -> DeadLetterSummary {
    DeadLetterSummary {
        given_up: Some("2026-11-20T11:58:00Z".to_owned()),
        channel: channel.name().to_owned(),
        event_type: Some(channel.event_type().name()),
        event_id: Some(Uuid::from_u128(7)),
        attempts: "1".to_owned(),
        reason: reason.to_owned(),
    }
}

fn email(raw: &str) -> EmailAddress {
    EmailAddress::parse(raw).expect("the sample is an address")
}

fn stored<D: EventData>(data: D) -> anyhow::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&event(data))?)
}

fn event<D: EventData>(data: D) -> Event<D> {
    let person = PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned());
    let person = person.expect("the sample is an id");
    Event::new(
        "visit-0001",
        D::TYPE.id_for(Uuid::from_u128(7)),
        &person,
        TIME,
        data,
    )
}
