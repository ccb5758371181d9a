//! `sitectl doctor`: checks everything it can reach.

mod backlog;
mod clock;
mod declared;
mod mail;
mod store;

use async_nats::{Client, jetstream};
use clap::Args;
use resumes::S3Settings;
use site_broker::{Desired, ProvisionSettings, ensure_person_key};
use site_mail::AddressSettings;
use visitor::PersonKey;

use crate::{
    broker,
    common_args::CommonArgs,
    finding::{self, Finding},
};

/// The services' settings.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    store: S3Settings,
    #[command(flatten)]
    provision: ProvisionSettings,
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    person_key: Option<PersonKey>,
    /// Host name of the mail server; without it mail is not checked
    #[arg(long, env = "SMTP_HOST")]
    smtp_host: Option<String>,
    /// Port of the mail server
    #[arg(long, env = "SMTP_PORT", default_value_t = 1025)]
    smtp_port: u16,
    #[command(flatten)]
    addresses: AddressSettings,
}

/// # Errors
///
/// If a finding has the verdict `wrong`. A warning is no error.
pub async fn doctor(args: &DoctorArgs) -> anyhow::Result<()> {
    let mut findings = match broker::client(&args.common.nats).await {
        Ok(client) => examine_broker(client, args).await,
        Err(error) => vec![Finding::wrong(
            "broker",
            error.to_string(),
            "its streams were not checked",
        )],
    };
    findings.extend(store::examine(&args.store).await);
    findings.push(mail::examine_server(args.smtp_host.as_deref(), args.smtp_port).await);
    findings.extend(mail::examine_addresses(&args.addresses));
    finding::report(&findings, args.common.json)
}

async fn examine_broker(client: Client, args: &DoctorArgs) -> Vec<Finding> {
    // The client rejects unsupported versions.
    let version = client.server_info().version;
    let context = jetstream::new(client.clone());
    let mut findings = vec![Finding::ok("broker", format!("version {version}"))];
    findings.push(clock::examine(&client).await);
    let wanted = Desired::from_settings(&args.provision);
    findings.extend(declared::examine(&context, &wanted).await);
    findings.extend(backlog::examine(&context, &wanted).await);
    findings.push(examine_key(&context, args.person_key.as_ref()).await);
    findings
}

async fn examine_key(context: &jetstream::Context, key: Option<&PersonKey>) -> Finding {
    let (what, remedy) = ("PERSON_KEY", "set the key that the services use");
    let Some(key) = key else {
        return Finding::warning(what, "not set", remedy);
    };
    match ensure_person_key(context, key).await {
        Ok(()) => Finding::ok(what, "it is the key of this installation"),
        Err(error) => Finding::wrong(what, error.to_string(), remedy),
    }
}
