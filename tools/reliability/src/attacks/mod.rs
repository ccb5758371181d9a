//! Attacks on whether the site can be reached, and what an honest visitor notices of each.

mod addresses;
mod attack;
mod attackers;
mod attempts;
mod challenges;
mod connections;
mod honest_visitors;
mod parts;
mod report;
mod seen;

use std::time::Duration;

use testkit::{Keep, Mail, Ports, Shape, Stack};
use tokio::time::sleep;

pub use self::{
    attack::Attack,
    report::{HEAD, broken_bars, row},
    seen::Seen,
};
use self::{attack::VICTIM, attackers::Attackers, honest_visitors::HonestVisitors, parts::watch_health};

/// How long everything may take to be let go of before the next attack begins.
const PAUSE: Duration = Duration::from_secs(5);
/// The first visits open files and connections that later ones find open.
const WARM_UP: Duration = Duration::from_secs(5);

/// Makes these attacks on a stack of its own, each for so long, and the quiet time before them in any case; those in which
/// the gateway asks for work on another stack.
///
/// # Errors
///
/// If a stack does not start, or a part of it ends.
pub async fn run(attacks: &[Attack], lasting: Duration) -> anyhow::Result<Vec<Seen>> {
    let attacks = attacks.iter().copied();
    let attacks = attacks.filter(|attack| *attack != Attack::Quiet);
    let (challenged, others): (Vec<Attack>, Vec<Attack>) = attacks.partition(|attack| attack.is_challenged());
    let mut seen = on_one_stack(&[vec![Attack::Quiet], others].concat(), &[], lasting).await?;
    if !challenged.is_empty() {
        seen.extend(on_one_stack(&challenged, &challenges::SETTINGS, lasting).await?);
    }
    Ok(seen)
}

async fn on_one_stack(
    attacks: &[Attack],
    more_settings: &[(&str, &str)],
    lasting: Duration,
) -> anyhow::Result<Vec<Seen>> {
    let shape = Shape {
        mail: Mail::Scripted,
        keep: Keep::Identity,
        ..Shape::USUAL
    };
    // No proxy in front: who connects is who is meant by the limits for an address.
    let settings = [&[("LOG", "warn"), ("TRUSTED_PROXIES", "0")][..], more_settings].concat();
    let mut stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
    let mut honest = HonestVisitors::default();
    honest.visit(&stack, WARM_UP).await?;
    let mut seen = Vec::new();
    for attack in attacks {
        seen.push(endure(*attack, lasting, &stack, &mut honest).await?);
        if let Some(ended) = stack.ended() {
            anyhow::bail!("{ended}, during {attack:?}");
        }
        sleep(PAUSE).await;
    }
    stack.stop().await?;
    Ok(seen)
}

async fn endure(
    attack: Attack,
    lasting: Duration,
    stack: &Stack,
    honest: &mut HonestVisitors,
) -> anyhow::Result<Seen> {
    let before = parts::all(stack)?;
    let attackers = Attackers::start(attack, stack.ports().site)?;
    let (visits, failed_probes) = tokio::try_join!(
        honest.visit(stack, lasting),
        watch_health(stack.health(), lasting)
    )?;
    let attempts = attackers.end().await;
    let mails = stack.mail_server()?.accepted_mails();
    Ok(Seen {
        attack,
        attempts,
        visits,
        parts: parts::with_peaks(before)?,
        failed_probes,
        mails_to_victim: mails.iter().filter(|mail| mail.recipient == VICTIM).count(),
    })
}
