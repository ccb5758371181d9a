//! What the scripted mail server does wrong when it is told to, as a client meets it on the wire.

use std::time::Duration;

use anyhow::Context;
use testkit::{Keep, MailFault, MailServer, ScriptedReply, eventually, mail_server::Behaviour};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::TcpStream,
    time::timeout,
};

const SOON: Duration = Duration::from_secs(30);
/// Longer than the server needs for an answer that it ought not to give.
const NO_ANSWER: Duration = Duration::from_millis(500);
const TO: &str = "zoe@example.org";

async fn server() -> anyhow::Result<MailServer> {
    let behaviour = Behaviour {
        keep: Keep::Identity,
        ..Behaviour::default()
    };
    MailServer::start_with(behaviour, 0, |_, _| ScriptedReply::Take).await
}

struct Client(BufStream<TcpStream>);

impl Client {
    async fn connect(server: &MailServer) -> anyhow::Result<Self> {
        let mut client = Self(BufStream::new(
            TcpStream::connect(("127.0.0.1", server.port())).await?,
        ));
        client.answer().await?;
        Ok(client)
    }

    async fn answer(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await?;
        anyhow::ensure!(read > 0, "the connection ended");
        Ok(line.chars().take(3).collect())
    }

    async fn say(&mut self, line: &str) -> anyhow::Result<String> {
        self.0.write_all(line.as_bytes()).await?;
        self.0.write_all(b"\r\n").await?;
        self.0.flush().await?;
        self.answer().await
    }

    /// Hands over a mail; the code of the answer that decides.
    async fn send(&mut self, message_id: &str) -> anyhow::Result<String> {
        self.say("MAIL FROM:<site@example.org>").await?;
        let taken = self.say(&format!("RCPT TO:<{TO}>")).await?;
        if taken != "250" {
            return Ok(taken);
        }
        self.say("DATA").await?;
        self.say(&format!(
            "Message-ID: {message_id}\r\nSubject: a\r\n\r\nMessage-ID: no\r\n."
        ))
        .await
    }
}

#[tokio::test]
async fn each_fault_refuses_or_ends_a_mail_and_the_next_is_taken_when_it_is_over() -> anyhow::Result<()> {
    let server = server().await?;
    for (fault, expected) in [
        (MailFault::RefuseRecipients, Some("450")),
        (MailFault::RefuseContents, Some("451")),
        (MailFault::LocalError, Some("451")),
        (MailFault::HangUp, None),
    ] {
        server.fault(fault);
        let said = Client::connect(&server).await?.send("<1@site>").await.ok();
        assert_eq!(said.as_deref(), expected, "{fault:?}");
    }
    server.fault(MailFault::None);
    assert_eq!(Client::connect(&server).await?.send("<2@site>").await?, "250");
    let mails = server.accepted_mails();
    let taken: Vec<_> = mails
        .iter()
        .map(|mail| (mail.recipient.as_str(), mail.message_id.as_str()))
        .collect();
    assert_eq!(taken, [(TO, "<2@site>")]);
    assert_eq!(server.accepted_after(0), mails);
    assert!(server.accepted_after(1).is_empty());
    assert!(server.accepted(TO).is_empty(), "the content is kept");
    Ok(())
}

#[tokio::test]
async fn a_server_that_hangs_says_nothing_and_takes_nothing() -> anyhow::Result<()> {
    let server = server().await?;
    server.fault(MailFault::Hang);
    let mut client = Client::connect(&server).await?;
    let sending = client.send("<1@site>");
    tokio::pin!(sending);
    assert!(timeout(NO_ANSWER, &mut sending).await.is_err());
    server.fault(MailFault::None);
    assert!(timeout(SOON, sending).await?.is_err());
    assert!(server.accepted_mails().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_server_that_was_away_is_back_at_the_same_port() -> anyhow::Result<()> {
    let server = server().await?;
    let mut client = Client::connect(&server).await?;
    for _ in 0..3 {
        server.fault(MailFault::Away);
        assert!(timeout(SOON, client.answer()).await?.is_err());
        eventually("nobody listens", SOON, async || {
            Client::connect(&server).await.err().map(drop)
        })
        .await?;
        server.fault(MailFault::None);
        client = eventually("somebody listens", SOON, async || {
            Client::connect(&server).await.ok()
        })
        .await?;
    }
    let code = client.send("<1@site>").await.context("it is back")?;
    assert_eq!(code, "250");
    Ok(())
}
