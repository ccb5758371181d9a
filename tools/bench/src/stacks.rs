//! Ours, started as they are compared.

use serde_json::{Value, json};
use testkit::{
    Discard, Fsync, Hosting, Keep, Mail, Ports, Shape, Stack, Tls,
    measure::{WITHOUT_LIMITS, observing},
};

use crate::contender::Setting;

/// Megabytes of the broker: a few minutes of load.
pub const STORAGE_MB: &str = "8000";

/// Starts everything but the notifier, without limits of a visitor.
///
/// # Errors
///
/// If it does not start.
pub async fn start(setting: Setting) -> anyhow::Result<Stack> {
    let shape = Shape {
        hosting: Hosting::Nobody,
        mail: Mail::Scripted,
        keep: Keep::Identity,
        fsync: match setting {
            Setting::Fsync => Fsync::Always,
            Setting::AsShipped | Setting::Telemetry | Setting::Tls => Fsync::Later,
        },
        tls: match setting {
            Setting::Tls => Tls::On,
            _ => Tls::Off,
        },
        ..Shape::USUAL
    };
    let mut settings = WITHOUT_LIMITS.to_vec();
    let collector = Discard::start().await?;
    if setting == Setting::Telemetry {
        settings.extend(observing(&collector));
    }
    let mut stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
    stack.nats.provision_with(&["--storage-mb", STORAGE_MB]).await?;
    // What it does of a form would go on into the next turn.
    stack.stop_service("notifier").await?;
    // Where a stream holds contact messages only, the broker walks through all of its subjects for each request of a consumer of others:
    // 40 ms once there are 100,000. That of a site holds sign-ups, too.
    send_form(
        &stack.site(),
        "newsletter",
        &json!({ "email": "ada@example.org" }),
    )
    .await?;
    Ok(stack)
}

/// Sends one form.
///
/// # Errors
///
/// If it is not accepted.
pub async fn send_form(site: &str, form: &str, fields: &Value) -> anyhow::Result<()> {
    let url = format!("{site}/api/{form}");
    let answer = reqwest::Client::new().post(url).json(fields).send().await?;
    answer.error_for_status()?;
    Ok(())
}
