//! Compares our release programs with minimal peers, in turns on one machine. The ratio is the result
//! (docs/performance.md).

mod accept;
mod compare;
mod deliver;
mod pages;
mod peers;
mod table;
mod upload;
mod wrk;

use clap::{Args, Parser, Subcommand};
use testkit::{Hosting, Shape};

use self::table::Row;

const WITHOUT_LIMITS: [(&str, &str); 2] = [("RATE_PER_MINUTE", "1000000"), ("RATE_BURST", "1000000")];

fn forms() -> Shape {
    Shape {
        hosting: Hosting::Nobody,
        ..Shape::default()
    }
}

/// Compares our programs with a peer; fails below the minimum ratio, which an idle machine reaches
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    turns: Turns,
}

#[derive(Subcommand)]
enum What {
    /// Contact forms, beside Axum and Fastify that publish to the same broker
    Accept,
    /// Files of the site, beside Axum with tower-http's file service
    Pages,
    /// Applications with a résumé, beside Axum that puts the file into the same store
    Upload,
    /// Mails of a backlog of sign-ups, beside a loop that only speaks SMTP
    Deliver,
}

/// Duration of the measurement.
#[derive(Args, Clone, Copy)]
struct Turns {
    /// Turns of each contender; the median counts
    #[arg(long, global = true, default_value_t = 3)]
    turns: u32,
    /// Seconds of load in a turn
    #[arg(long, global = true, default_value_t = 3)]
    seconds: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let rows = tokio::select! {
        rows = bench(&cli) => rows?,
        // Returns an error, because child processes stop only when their handles are dropped.
        signal = tokio::signal::ctrl_c() => {
            signal?;
            anyhow::bail!("stopped")
        }
    };
    table::print(&rows)
}

async fn bench(cli: &Cli) -> anyhow::Result<Vec<Row>> {
    match &cli.what {
        What::Accept => accept::accept(cli.turns).await,
        What::Pages => pages::pages(cli.turns).await,
        What::Upload => upload::upload(cli.turns).await,
        What::Deliver => deliver::deliver(cli.turns).await,
    }
}
