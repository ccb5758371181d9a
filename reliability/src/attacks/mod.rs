//! Attacks on whether the site can be reached, and what an honest visitor notices of each.

mod attackers;
mod connections;
mod honest_visitors;
mod parts;
mod report;

use std::{net::Ipv4Addr, time::Duration};

use clap::ValueEnum;
use testkit::{Keep, Mail, Ports, Shape, Stack};
use tokio::time::sleep;

pub use self::report::{HEAD, broken_bars, row};
use self::{
    attackers::Attackers,
    honest_visitors::{HonestVisitors, Visits},
    parts::{Part, watch_health},
};

/// How long everything may take to be let go of before the next attack begins.
const PAUSE: Duration = Duration::from_secs(5);
/// The first visits open files and connections that later ones find open.
const WARM_UP: Duration = Duration::from_secs(5);
/// Whose address the many give as their own.
const VICTIM: &str = "victim@attack.example";

/// What is done to the site meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    /// Nothing: what the others are compared with
    Quiet,
    /// Eight at once send a résumé of nearly 10 MB whose directory lists 207,000 entries
    CrowdedArchives,
    /// Fifty addresses begin four uploads each, and go on by a byte a second
    SlowUploads,
    /// Two thousand connections of forty addresses say nothing, and five hundred of one
    IdleConnections,
    /// A thousand connections of forty addresses: slow headers, slow bodies, and answers that nobody reads
    SlowConnections,
    /// Two hundred forms a second from one address
    FloodFromOne,
    /// Two hundred forms a second from ten thousand addresses, all in the name of one victim
    FloodFromMany,
}

/// What was seen during an attack.
pub struct Seen {
    /// Which one.
    pub attack: Attack,
    /// How often the attackers began something.
    pub attempts: usize,
    /// What honest visitors met.
    pub visits: Visits,
    /// The parts that visitors reach, or that take their forms.
    pub parts: Vec<Part>,
    /// How often a probe of the gateway's health did not succeed.
    pub failed_probes: usize,
    /// How many mails the victim was sent since the stack was started.
    pub mails_to_victim: usize,
}

/// Makes these attacks on a stack of its own, each for so long, and the quiet time before them in any case.
///
/// # Errors
///
/// If the stack does not start, or a part of it ends.
pub async fn run(attacks: &[Attack], lasting: Duration) -> anyhow::Result<Vec<Seen>> {
    let shape = Shape {
        mail: Mail::Scripted,
        keep: Keep::Identity,
        ..Shape::USUAL
    };
    // No proxy in front: who connects is who is meant by the limits for an address.
    let settings = [("LOG", "warn"), ("TRUSTED_PROXIES", "0")];
    let mut stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
    let mut honest = HonestVisitors::default();
    honest.visit(&stack, WARM_UP).await?;
    let mut seen = Vec::new();
    for attack in [&[Attack::Quiet], attacks].concat() {
        seen.push(endure(attack, lasting, &stack, &mut honest).await?);
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

/// The nth of the addresses of this machine (RFC 1122, 3.2.1.3) that begin so.
fn address(second: u8, number: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(number % usize::from(u16::MAX))
        .unwrap_or_default()
        .to_be_bytes();
    Ipv4Addr::new(127, second, high, low)
}
