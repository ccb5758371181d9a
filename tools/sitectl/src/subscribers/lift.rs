//! `sitectl subscribers lift`.

use ::subscribers::Subscribers;
use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::json;
use site_broker::ensure_person_key;
use visitor::{EmailAddress, PersonKeySettings};

use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::print_output,
};

#[derive(Args, Debug)]
pub struct LiftArgs {
    /// E-mail address of the subscriber
    #[arg(value_name = "E-MAIL")]
    email: String,
    #[command(flatten)]
    mode: Mode,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    common: CommonArgs,
}

/// Restores the state before the bounce. With `--yes`, deletes a sign-up that was never confirmed.
///
/// # Errors
///
/// If no subscriber with this address is suppressed, the record changed in the meantime, or the broker is unavailable.
pub async fn lift(args: &LiftArgs) -> anyhow::Result<()> {
    let (key, common) = (&args.key.person_key, &args.common);
    let person = key.person(&EmailAddress::parse(&args.email)?);
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let subscribers = Subscribers::open(context.client()).await?;
    let known = subscribers.read(&person).await?;
    let subscriber = known.value.context("There is no subscriber with this address.")?;
    let state = subscriber.state_name();
    ensure!(
        subscriber.is_suppressed(),
        "The address is not suppressed: it is {state}."
    );
    let (state, line) = match subscriber.lifted() {
        Some(lifted) => {
            subscribers.write(&person, &lifted, known.revision, None).await?;
            let state = lifted.state_name().to_owned();
            let line = format!("Lifted: the address is {state} again.");
            (Some(state), line)
        }
        None if !args.mode.yes => {
            let lines = [
                "would be deleted: the sign-up, which was never confirmed; it can be made anew",
                "Nothing was lifted; repeat it with --yes.",
            ];
            let document = json!({ "lifted": false, "wouldForget": true });
            return print_output(common.json, &document, lines.map(str::to_owned));
        }
        None => {
            subscribers.delete(&person, known.revision).await?;
            let line = "Lifted: the sign-up was never confirmed and is deleted; it can be made anew.";
            (None, line.to_owned())
        }
    };
    print_output(common.json, &json!({ "lifted": true, "state": state }), [line])
}
