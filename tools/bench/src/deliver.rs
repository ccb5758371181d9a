//! `bench deliver`: mails from a backlog of sign-ups.

use std::time::Duration;

use anyhow::Context;
use testkit::{MailServer, Ports, ScriptedReply, Stack, eventually};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::TcpStream,
    task::JoinSet,
};

use crate::{
    Turns, WITHOUT_LIMITS,
    compare::{cpu_micros, cpu_of_each},
    forms,
    table::{Row, Turn},
    wrk::Requests,
};

const STORING: Duration = Duration::from_millis(5);
/// As many as the notifier opens for a channel.
const CONNECTIONS: u64 = 4;
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(300);
const LEAST: f64 = 0.9;
const MAIL: &str = "Subject: Confirm your subscription\r\n\r\nOne line is enough.\r\n.\r\n";

/// Measures the notifier beside a loop that sends as many mails.
///
/// # Errors
///
/// If a program does not start, or mails are missing.
pub async fn deliver(turns: Turns) -> anyhow::Result<Vec<Row>> {
    let server = MailServer::start(|_, _| ScriptedReply::TakeAfter(STORING)).await?;
    let port = server.port.to_string();
    let settings = [&WITHOUT_LIMITS[..], &[("SMTP_PORT", &port)]].concat();
    let mut stack = Stack::start_as(forms(), Ports::free()?, &settings).await?;
    let row = |contender: &str, least| Row {
        case: format!("mails, {} ms each to store", STORING.as_millis()),
        contender: contender.to_owned(),
        least,
        turns: Vec::new(),
    };
    let (mut bare, mut ours) = (row("loop", None), row("notifier", Some(LEAST)));
    for _ in 0..turns.turns {
        stack.stop_service("notifier").await?;
        let sent = Requests::Newsletter
            .send(&stack.site(), 64, turns.seconds)
            .await?;
        let mails = sent.requests;

        send_mails(server.port, mails).await?;
        bare.turns.push(Turn {
            rate: rate(&server, mails).await?,
            latencies_ms: None,
            cpu: Vec::new(),
        });

        stack.start_service("notifier")?;
        let processes = [stack.service("notifier")?, stack.nats.servers[0].process()?];
        let before = cpu_micros(&processes)?;
        ours.turns.push(Turn {
            rate: rate(&server, mails).await?,
            latencies_ms: None,
            cpu: cpu_of_each(&before, &processes, mails)?,
        });
    }
    stack.stop().await?;
    Ok(vec![bare, ours])
}

/// Returns mails per second, and removes the mails from the server.
async fn rate(server: &MailServer, mails: u64) -> anyhow::Result<f64> {
    eventually("all mails arrive", DELIVERY_TIMEOUT, async || {
        (server.accepted_mails().len() as u64 >= mails).then_some(())
    })
    .await?;
    let accepted = server.take_accepted();
    let (first, last) = accepted.first().zip(accepted.last()).context("no mails")?;
    Ok(accepted.len() as f64 / (last.at - first.at).as_secs_f64())
}

async fn send_mails(port: u16, mails: u64) -> anyhow::Result<()> {
    let mut senders = JoinSet::new();
    for sender in 0..CONNECTIONS {
        let share = mails / CONNECTIONS + u64::from(sender < mails % CONNECTIONS);
        senders.spawn(async move {
            let socket = TcpStream::connect(("127.0.0.1", port)).await?;
            socket.set_nodelay(true)?;
            let mut server = BufStream::new(socket);
            converse(&mut server, "HELO bench\r\n", 2).await?;
            for _ in 0..share {
                converse(&mut server, "MAIL FROM:<hello@oculant.example>\r\n", 1).await?;
                converse(&mut server, "RCPT TO:<ada@example.org>\r\n", 1).await?;
                converse(&mut server, "DATA\r\n", 1).await?;
                converse(&mut server, MAIL, 1).await?;
            }
            converse(&mut server, "QUIT\r\n", 1).await
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent??;
    }
    Ok(())
}

async fn converse(server: &mut BufStream<TcpStream>, words: &str, answers: usize) -> anyhow::Result<()> {
    server.write_all(words.as_bytes()).await?;
    server.flush().await?;
    for _ in 0..answers {
        let mut answer = String::new();
        server.read_line(&mut answer).await?;
        anyhow::ensure!(answer.starts_with(['2', '3']), "the mail server says {answer:?}");
    }
    Ok(())
}
