//! `sitectl doctor`: looks at all that can be known from here, and says in plain words what is wrong.

mod backlog;
mod clock;
mod declared;
mod mail;
mod store;

use async_nats::{
    Client,
    jetstream::{self, message::StreamMessage},
};
use clap::Args;
use resumes::S3Settings;
use site_broker::{Desired, ProvisionSettings};
use site_events::{SITE_STREAM, subjects};
use visitor::{EmailAddress, PersonId, PersonKey};

use crate::{
    broker,
    common_args::CommonArgs,
    finding::{self, Finding},
};

/// How many events of checks may come one after the other before a sweep removes them: one a minute for two hours.
const MAX_SYNTHETIC: usize = 120;

/// What the examination needs to know: give it what the services are given.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
    /// The streams
    #[command(flatten)]
    provision: ProvisionSettings,
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    person_key: Option<PersonKey>,
    /// Host name of the mail server; without it mail is not looked at
    #[arg(long, env = "SMTP_HOST")]
    smtp_host: Option<String>,
    /// Port of the mail server
    #[arg(long, env = "SMTP_PORT", default_value_t = 1025)]
    smtp_port: u16,
}

/// Looks at everything, and tells it.
///
/// # Errors
///
/// If something is wrong, once all is told; a warning does not count.
pub async fn doctor(args: &DoctorArgs) -> anyhow::Result<()> {
    let mut findings = match broker::client(&args.common.nats).await {
        Ok(client) => examine_broker(client, args).await,
        Err(error) => vec![Finding::wrong(
            "broker",
            error.to_string(),
            "nothing that lies in it was looked at",
        )],
    };
    findings.extend(store::examine(&args.store).await);
    findings.push(mail::examine(args.smtp_host.as_deref(), args.smtp_port).await);
    finding::report(&findings, args.common.json)
}

async fn examine_broker(client: Client, args: &DoctorArgs) -> Vec<Finding> {
    let context = jetstream::new(client.clone());
    // Older ones are not connected to.
    let version = client.server_info().version;
    let mut findings = vec![Finding::ok("broker", format!("version {version}"))];
    if let Err(error) = context.query_account().await {
        findings.push(Finding::wrong(
            "JetStream",
            format!("cannot be used: {error}"),
            "switch it on in the server's configuration, for the operator's account",
        ));
        return findings;
    }
    findings.push(clock::examine(&client).await);
    let wanted = Desired::from_settings(&args.provision);
    findings.extend(declared::examine(&context, &wanted).await);
    findings.extend(backlog::examine(&context, &wanted, &args.provision).await);
    findings.push(examine_key(&context, args.person_key.as_ref()).await);
    findings
}

/// The newest event that is of a person: an hour's forms of a check may have come after it.
async fn newest_of_a_person(context: &jetstream::Context) -> Option<StreamMessage> {
    let stream = broker::stream(context, SITE_STREAM).await.ok()?;
    let newest = stream
        .get_last_raw_message_by_subject(subjects::EVENTS_SUBJECT)
        .await
        .ok()?;
    let synthetic = PersonId::synthetic();
    let is_of_a_person = |message: &StreamMessage| {
        message.subject.starts_with("site.") && subjects::person_of(&message.subject) != synthetic.as_str()
    };
    if is_of_a_person(&newest) {
        return Some(newest);
    }
    for sequence in (1..newest.sequence).rev().take(MAX_SYNTHETIC) {
        if let Some(message) = broker::get(&stream, sequence).await.ok()?
            && is_of_a_person(&message)
        {
            return Some(message);
        }
    }
    None
}

/// The newest event says by whose key its person was named.
async fn examine_key(context: &jetstream::Context, key: Option<&PersonKey>) -> Finding {
    let what = "PERSON_KEY";
    let Some(key) = key else {
        return Finding::warning(
            what,
            "not given",
            "give it to learn whether it is the key that the services use",
        );
    };
    let newest = async {
        let newest = newest_of_a_person(context).await?;
        let email = broker::content(&newest)["data"]["email"].as_str()?.to_owned();
        let email = EmailAddress::parse(&email).ok()?;
        Some((email, subjects::person_of(&newest.subject).to_owned()))
    };
    match newest.await {
        None => Finding::ok(what, "given; there is no event yet to try it on"),
        Some((email, person)) if key.person(&email).as_str() == person => {
            Finding::ok(what, "it is the one that the newest event was made with")
        }
        Some(_) => Finding::wrong(
            what,
            "the newest event was made with another one",
            "give the key that the services use; with a wrong one nobody is found",
        ),
    }
}
