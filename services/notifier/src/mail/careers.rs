//! Mails of an application, to the recruiters and to the applicant.

use minijinja::{Value, context, value::Serde};
use site_events::{
    Channel, Event,
    event::{ActiveContent, CareersApplied, StoredResume},
};
use time::OffsetDateTime;

use super::{
    context::MailContext,
    error::MailError,
    message::{File, Mail},
    name::PlainName,
    positions,
    recruiter_extras::{EarlierApplication, RecruiterExtras},
    visitor::{answer_to, fields, origin, ours, visitor},
    wording,
};

/// The recruiters' mail, with an expiring link to the résumé, signed anew at each attempt. A small résumé is
/// also attached.
pub async fn application(
    context: &MailContext,
    event: &Event<CareersApplied>,
    extras: RecruiterExtras,
    now: OffsetDateTime,
) -> Result<Mail, MailError> {
    let from = &event.data;
    let resume = match &from.resume {
        Some(resume) => Some(linked(context, resume, extras.resume.is_some(), now).await?),
        None => None,
    };
    let values = context! {
        data => Serde(from),
        fields => fields(from)?,
        origin => origin(from.attribution.as_ref()),
        resume,
        earlier => extras.earlier.iter().map(described_earlier).collect::<Vec<_>>(),
        sent => wording::time(event.time),
        event_id => event.id.to_string(),
    };
    let to = context.recruiters.clone();
    Ok(Mail {
        reply_to: answer_to(&from.name, &from.email),
        attachment: extras.resume.zip(from.resume.as_ref()).map(attached),
        ..Mail::about(event, Channel::RecruiterApplication, to, values)
    })
}

/// The acknowledgement. It must not repeat the form's text, because anyone can enter a stranger's address.
pub fn acknowledgement(context: &MailContext, event: &Event<CareersApplied>) -> Result<Mail, MailError> {
    let from = &event.data;
    let name = PlainName::parse(&from.name);
    let values = context! {
        name => name.as_ref().map(PlainName::as_str),
        position => positions::title(&from.position),
        resume => from.resume.as_ref().map(stored),
        sent => wording::time(event.time),
    };
    let to = visitor(name, &from.email)?;
    Ok(Mail {
        reply_to: Some(ours(context, &context.brand.emails.careers)),
        ..Mail::about(event, Channel::ApplicationAcknowledgement, to, values)
    })
}

async fn linked(
    context: &MailContext,
    resume: &StoredResume,
    is_attached: bool,
    now: OffsetDateTime,
) -> Result<Value, MailError> {
    let link = context.resume_link(resume).await?;
    let until = wording::time(now + context.link_lifetime);
    Ok(context! { link, is_attached, until, ..described(resume) })
}

fn attached((content, resume): (Vec<u8>, &StoredResume)) -> File {
    File {
        name: resume.file_name.clone(),
        content_type: resume.content_type.clone(),
        content,
    }
}

fn described_earlier(earlier: &EarlierApplication) -> Value {
    context! { position => earlier.position.as_str(), time => wording::day(earlier.time) }
}

fn described(resume: &StoredResume) -> Value {
    context! {
        file_name => resume.file_name.as_str(),
        is_clean => resume.scan.is_clean(),
        ..stored(resume)
    }
}

/// The résumé without its file name, which could carry text to a stranger.
fn stored(resume: &StoredResume) -> Value {
    context! {
        size => wording::size(resume.size_bytes),
        sha256 => resume.sha256.as_str(),
        active_content => resume.active_content.iter().copied().map(named).collect::<Vec<_>>(),
    }
}

fn named(content: ActiveContent) -> &'static str {
    match content {
        ActiveContent::Macros => "macros",
        ActiveContent::ExternalTemplate => "an external template or object",
        ActiveContent::JavaScript => "JavaScript",
        ActiveContent::Launch => "a command that starts a program",
        ActiveContent::EmbeddedFile => "an embedded file",
    }
}

#[cfg(test)]
mod tests {
    use site_events::event::Scan;

    use super::*;

    #[test]
    fn only_a_clean_scan_is_reported_as_clean() -> Result<(), minijinja::Error> {
        for (scan, is_clean) in [
            (Scan::Clean, true),
            (Scan::NotScanned, false),
            (Scan::Unknown("clean-but-macros".into()), false),
        ] {
            let resume = StoredResume {
                key: "resumes/0123/4567/cv.pdf".into(),
                file_name: "cv.pdf".into(),
                content_type: "application/pdf".into(),
                size_bytes: 5,
                sha256: "00".into(),
                scan,
                active_content: Vec::new(),
            };
            assert_eq!(
                described(&resume).get_attr("is_clean")?,
                Value::from(is_clean),
                "{:?}",
                resume.scan
            );
        }
        Ok(())
    }
}
