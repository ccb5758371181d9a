//! What `bench instructions` counts: the services in one process and on one thread, and the writing of mails.
//!
//! It runs under callgrind. The bench starts it and sends it its work, and is not counted.

mod driver;
mod mails;
mod site;
mod window;

use clap::Parser;
use site_service::allocator::Jemalloc;

use self::{mails::Mails, site::Site};

/// As shipped: what it takes is a part of each path.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// A path that is counted
#[derive(Parser)]
#[command(name = "instructions")]
enum Path {
    /// Contact forms, from the gateway to the broker's acknowledgement
    Accept(Site),
    /// Applications, from the gateway through the careers service to the store
    Upload(Site),
    /// Pages that the gateway serves
    Page(Site),
    /// Mails, rendered and built
    Mail(Mails),
}

fn main() -> anyhow::Result<()> {
    match Path::parse() {
        Path::Accept(site) => site.run(site::accept),
        Path::Upload(site) => site.run(site::upload),
        Path::Page(site) => site.run(site::page),
        Path::Mail(mails) => mails.run(),
    }
}
