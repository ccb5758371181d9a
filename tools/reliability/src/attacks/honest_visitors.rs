//! Visitors who want nothing but to read a page, write a message and apply, each from an address of their own.

use std::time::Duration;

use anyhow::Context;
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use testkit::Stack;
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

use super::{addresses::address, challenges};
use crate::submission::{FormKind, Submission};

/// The second number of their addresses.
const ADDRESSES: u8 = 1;
/// How many come a second: one reads a page, the next writes a message.
const RATE: u32 = 20;
/// One of so many applies instead.
const APPLICATION_EVERY: u32 = 80;
const RESUME_BYTES: usize = 1_000_000;
/// Longer than anybody may wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
const SEED: u64 = 17;

/// Those who come; no two have an address.
#[derive(Default)]
pub struct HonestVisitors(u32);

/// What they met.
#[derive(Debug, Default)]
pub struct Visits {
    /// How long each page took, from the connection to its last byte.
    pub pages: Vec<Duration>,
    /// The same of messages that were taken.
    pub messages: Vec<Duration>,
    /// The same of applications that were taken.
    pub applications: Vec<Duration>,
    /// How long the work of each form took that was asked for one. It is in none of the above.
    pub solutions: Vec<Duration>,
    /// What was refused or not answered.
    pub failures: Vec<String>,
}

/// How long a wish took.
struct Fulfilled {
    took: Duration,
    /// The work for it, where some was asked for.
    solution: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
enum Wish {
    Page,
    Form(FormKind),
}

impl HonestVisitors {
    /// They come at a steady rate for so long, whether those before them were answered or not.
    ///
    /// # Errors
    ///
    /// If a client cannot be made.
    pub async fn visit(&mut self, stack: &Stack, lasting: Duration) -> anyhow::Result<Visits> {
        let begun = Instant::now();
        let mut ticks = interval(Duration::from_secs(1) / RATE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut visits = JoinSet::new();
        while begun.elapsed() < lasting {
            ticks.tick().await;
            self.0 += 1;
            visits.spawn(visit(stack.site(), self.0));
        }
        let mut all = Visits::default();
        for (wish, met) in visits.join_all().await {
            all.note(wish, met);
        }
        Ok(all)
    }
}

impl Visits {
    fn note(&mut self, wish: Wish, met: anyhow::Result<Fulfilled>) {
        let Fulfilled { took, solution } = match met {
            Ok(fulfilled) => fulfilled,
            Err(error) => return self.failures.push(format!("{wish:?}: {error:#}")),
        };
        self.solutions.extend(solution);
        match wish {
            Wish::Page => self.pages.push(took),
            Wish::Form(FormKind::Application) => self.applications.push(took),
            Wish::Form(_) => self.messages.push(took),
        }
    }
}

async fn visit(site: String, number: u32) -> (Wish, anyhow::Result<Fulfilled>) {
    let wish = match number {
        _ if number.is_multiple_of(APPLICATION_EVERY) => Wish::Form(FormKind::Application),
        _ if number.is_multiple_of(2) => Wish::Page,
        _ => Wish::Form(FormKind::Contact),
    };
    (wish, fulfil(wish, &site, number).await)
}

async fn fulfil(wish: Wish, site: &str, number: u32) -> anyhow::Result<Fulfilled> {
    let http = Client::builder()
        .timeout(ANSWER_TIMEOUT)
        .local_address(Some(address(ADDRESSES, number as usize).into()))
        .build()?;
    match wish {
        Wish::Page => read_page(&http, site).await,
        Wish::Form(kind) => send(&http, site, Submission::new(SEED, number, kind, RESUME_BYTES)).await,
    }
}

async fn read_page(http: &Client, site: &str) -> anyhow::Result<Fulfilled> {
    let begun = Instant::now();
    let answer = http.get(site).send().await?;
    answer.error_for_status()?.bytes().await?;
    Ok(Fulfilled {
        took: begun.elapsed(),
        solution: None,
    })
}

/// Sends a form, and where work is asked for it does that and sends it again, as the site's pages do.
async fn send(http: &Client, site: &str, submission: Submission) -> anyhow::Result<Fulfilled> {
    let request = submission.request(http, site);
    let begun = Instant::now();
    let answer = request.send().await?;
    if answer.status() != StatusCode::TOO_MANY_REQUESTS {
        ensure_taken(answer).await?;
        return Ok(Fulfilled {
            took: begun.elapsed(),
            solution: None,
        });
    }
    let asked: Value = answer.json().await?;
    let solving = Instant::now();
    let solution = challenges::solution_of(asked).await?;
    let worked = solving.elapsed();
    let again = submission
        .request(http, site)
        .header(challenges::SOLUTION, solution);
    ensure_taken(again.send().await?).await?;
    Ok(Fulfilled {
        took: begun.elapsed().saturating_sub(worked),
        solution: Some(worked),
    })
}

async fn ensure_taken(answer: Response) -> anyhow::Result<()> {
    let status = answer.status();
    let words: Value = answer
        .json()
        .await
        .with_context(|| format!("answered {status}"))?;
    anyhow::ensure!(
        status.is_success() && words["success"] == true,
        "{status}: {words}"
    );
    Ok(())
}
