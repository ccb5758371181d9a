//! `sitectl subscribers lift`.

use ::subscribers::{Retention, Subscriber, Subscribers};
use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::json;
use site_broker::ensure_person_key;
use visitor::{EmailAddress, PersonKeySettings};

use crate::{broker, common_args::CommonArgs, output::print_output};

/// Whom to lift.
#[derive(Args, Debug)]
pub struct LiftArgs {
    /// The subscriber's e-mail address
    #[arg(value_name = "E-MAIL")]
    email: String,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    common: CommonArgs,
}

/// Makes a suppressed subscriber what they were before the mail came back. A sign-up that was never confirmed was nothing
/// before: it is forgotten.
///
/// # Errors
///
/// If no subscriber with this address is suppressed, somebody else changed the record in between, or the broker does
/// not answer.
pub async fn lift(args: &LiftArgs) -> anyhow::Result<()> {
    let (key, common) = (&args.key.person_key, &args.common);
    let person = key.person(&EmailAddress::parse(&args.email)?);
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let subscribers = Subscribers::open(context.client()).await?;
    let known = subscribers.read(&person).await?;
    let subscriber = known
        .subscriber
        .context("There is no subscriber with this address.")?;
    let state = subscriber.state_name();
    ensure!(
        subscriber.is_suppressed(),
        "The address is not suppressed: it is {state}."
    );
    let lifted = subscriber.lifted();
    let state = lifted.as_ref().map(Subscriber::state_name);
    let line = if let Some(lifted) = &lifted {
        let write = subscribers.write(&person, lifted, known.revision, Retention::Forever);
        write.await?;
        format!("Lifted: the address is {} again.", lifted.state_name())
    } else {
        subscribers.delete(&person, known.revision).await?;
        "Lifted: the sign-up was never confirmed and is forgotten; it can be made anew.".to_owned()
    };
    print_output(common.json, &json!({ "lifted": true, "state": state }), [line])
}
