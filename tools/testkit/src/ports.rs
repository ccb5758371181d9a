//! Which part listens where.

use std::{io, net::TcpListener, ops::Range, sync::Mutex};

use anyhow::Context;
use clap::Args;
use uuid::Uuid;

use crate::{Mail, Shape};

/// Where parts of tests listen.
const CHOICE: Range<u16> = 10_240..32_768;
/// How many ports are tried.
const ATTEMPTS: usize = 100;

/// The loopback address at which ports are reserved.
const RESERVATIONS: &str = "127.0.0.2";

/// Until the process ends: between a port's choice and its use, somebody else could choose it.
static RESERVED: Mutex<Vec<TcpListener>> = Mutex::new(Vec::new());

/// The port of every part, on 127.0.0.1.
#[derive(Args, Debug, Clone)]
pub struct Ports {
    /// Port of the site and its API
    #[arg(long, env = "SITE_PORT", default_value_t = 8080)]
    pub site: u16,
    /// Port at which the gateway answers for its health
    #[arg(long, env = "HEALTH_PORT", default_value_t = 8090)]
    pub health: u16,
    /// Port of the inbox's web page and API
    #[arg(long, env = "INBOX_PORT", default_value_t = 1080)]
    pub inbox: u16,
    /// Port of the inbox's SMTP server
    #[arg(long, env = "SMTP_PORT", default_value_t = 1025)]
    pub smtp: u16,
    /// Port of the receiver of webhooks
    #[arg(long, env = "HOOKS_PORT", default_value_t = 1090)]
    pub hooks: u16,
    /// Port of the trace viewer's web page and API, where there is one
    #[arg(long, env = "TRACES_PORT", default_value_t = 4318)]
    pub traces: u16,
    /// Port at which the trace viewer takes OTLP (gRPC)
    #[arg(long, env = "OTLP_PORT", default_value_t = 4317)]
    pub otlp: u16,
    /// Port of NATS
    #[arg(long, env = "NATS_PORT", default_value_t = 4222)]
    pub nats: u16,
    /// Port of the S3 server
    #[arg(long, env = "S3_PORT", default_value_t = 9000)]
    pub s3: u16,
    /// Port of the contact service
    #[arg(long, env = "CONTACT_PORT", default_value_t = 50051)]
    pub contact: u16,
    /// Port of the newsletter service
    #[arg(long, env = "NEWSLETTER_PORT", default_value_t = 50052)]
    pub newsletter: u16,
    /// Port of the careers service
    #[arg(long, env = "CAREERS_PORT", default_value_t = 50053)]
    pub careers: u16,
    /// Port of the notifier's health
    #[arg(long, env = "NOTIFIER_PORT", default_value_t = 50054)]
    pub notifier: u16,
}

impl Ports {
    /// Ports that nobody uses now.
    pub fn free() -> anyhow::Result<Self> {
        let [
            site,
            health,
            inbox,
            smtp,
            hooks,
            traces,
            otlp,
            nats,
            s3,
            contact,
            newsletter,
            careers,
            notifier,
        ] = free_ports()?;
        Ok(Self {
            site,
            health,
            inbox,
            smtp,
            hooks,
            traces,
            otlp,
            nats,
            s3,
            contact,
            newsletter,
            careers,
            notifier,
        })
    }

    /// Fails with the first port that a stack of this shape needs and another program has.
    pub fn ensure_free(&self, shape: Shape) -> anyhow::Result<()> {
        let always = [
            ("site", self.site, "--site"),
            ("health", self.health, "--health"),
            ("SMTP", self.smtp, "--smtp"),
            ("webhooks", self.hooks, "--hooks"),
            ("NATS", self.nats, "--nats"),
            ("S3", self.s3, "--s3"),
            ("contact", self.contact, "--contact"),
            ("newsletter", self.newsletter, "--newsletter"),
            ("careers", self.careers, "--careers"),
            ("notifier", self.notifier, "--notifier"),
        ];
        let inbox = (shape.mail == Mail::Inbox).then_some(("inbox", self.inbox, "--inbox"));
        let observed = [("traces", self.traces, "--traces"), ("OTLP", self.otlp, "--otlp")];
        let observed: &[_] = if shape.observe { &observed } else { &[] };
        for (name, port, flag) in always.iter().chain(&inbox).chain(observed) {
            TcpListener::bind(("127.0.0.1", *port)).with_context(|| {
                format!("Port {port} ({name}) is taken by another program: stop that, or choose another port with {flag}")
            })?;
        }
        Ok(())
    }
}

/// Ports that nobody uses now, and that no other test is given, in whichever process it runs, before this one ends.
/// They are below those that the system gives to outgoing connections: any of these could be taken again before its
/// part listens.
///
/// # Errors
///
/// Where there are not so many.
pub fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    free_ports_in(CHOICE)
}

fn free_ports_in<const N: usize>(choice: Range<u16>) -> anyhow::Result<[u16; N]> {
    let mut reserved = RESERVED
        .lock()
        .map_err(|_| anyhow::anyhow!("a reservation broke off"))?;
    let mut ports = Vec::new();
    for _ in 0..ATTEMPTS {
        if ports.len() < N {
            let (random, _) = Uuid::new_v4().as_u64_pair();
            let port = choice.start + u16::try_from(random % u64::from(choice.end - choice.start))?;
            if let Ok(reservation) = reserve(port) {
                reserved.push(reservation);
                ports.push(port);
            }
        }
    }
    ports.try_into().ok().context("no port is free")
}

/// Held at an address where no part listens, so that the port itself stays free for its part.
fn reserve(port: u16) -> io::Result<TcpListener> {
    let reservation = TcpListener::bind((RESERVATIONS, port))?;
    TcpListener::bind(("127.0.0.1", port))?;
    Ok(reservation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_was_given_is_not_given_again_though_nobody_listens_there_yet() -> anyhow::Result<()> {
        let [port] = free_ports()?;
        TcpListener::bind(("127.0.0.1", port))?;
        assert!(free_ports_in::<1>(port..port + 1).is_err());
        Ok(())
    }

    #[test]
    fn the_viewers_ports_are_needed_only_where_there_is_a_viewer() -> anyhow::Result<()> {
        let taken = TcpListener::bind(("127.0.0.1", 0))?;
        let traces = taken.local_addr()?.port();
        let ports = Ports {
            traces,
            ..Ports::free()?
        };
        let shape = Shape::default();
        ports.ensure_free(shape)?;
        let refused = ports.ensure_free(Shape {
            observe: true,
            ..shape
        });
        let said = refused.err().context("the port is taken")?.to_string();
        assert!(
            said.contains(&traces.to_string()) && said.contains("--traces"),
            "{said}"
        );
        Ok(())
    }
}
