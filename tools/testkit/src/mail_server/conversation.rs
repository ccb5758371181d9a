//! As much of RFC 5321 as a client needs to hand over a mail to one recipient.

use anyhow::Context;
use base64::{Engine, prelude::BASE64_STANDARD};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::state::{Encryption, Login, ScriptedReply, State};

/// A connection, encrypted or not.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// One client, from its connection on.
pub(super) struct Conversation<'a> {
    client: BufReader<BufWriter<Box<dyn Wire>>>,
    tls_state: TlsState,
    state: &'a State,
    release_held: &'a CancellationToken,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TlsState {
    Clear,
    Encrypted,
}

impl<'a> Conversation<'a> {
    /// Talks until the client leaves.
    pub(super) async fn run(
        socket: TcpStream,
        state: &'a State,
        release_held: &'a CancellationToken,
    ) -> anyhow::Result<()> {
        let (wire, tls_state): (Box<dyn Wire>, _) = match &state.behaviour.encryption {
            Encryption::Implicit(tls) => (Box::new(tls.accept(socket).await?), TlsState::Encrypted),
            Encryption::None | Encryption::Starttls(_) => (Box::new(socket), TlsState::Clear),
        };
        let mut conversation = Self {
            client: buffered(wire),
            tls_state,
            state,
            release_held,
        };
        conversation.write_line("220 mail.test ESMTP").await?;
        let (mut is_begun, mut to) = (false, None);
        while let Some(line) = conversation.read_line().await? {
            let command = line.split([' ', ':']).next().unwrap_or_default();
            conversation.count_plaintext_command(command);
            match command {
                "EHLO" => conversation.introduce_itself().await?,
                "STARTTLS" => conversation = conversation.encrypt().await?,
                "AUTH" => conversation.log_in(&line).await?,
                "MAIL" => {
                    conversation.state.records(|records| records.begun += 1);
                    let refusal = conversation.state.behaviour.to_sender;
                    is_begun = refusal.is_none();
                    conversation.write_line(refusal.unwrap_or("250 OK")).await?;
                }
                // Whoever sends all at once hears of each what came of it.
                "RCPT" if !is_begun => conversation.write_line("503 5.5.1 No sender").await?,
                "RCPT" => to = conversation.recipient(&line).await?,
                "DATA" => match to.take() {
                    Some((recipient, answer)) => conversation.content(recipient, answer).await?,
                    None => conversation.write_line("554 5.5.1 No valid recipient").await?,
                },
                "QUIT" => return conversation.write_line("221 Bye").await,
                _ => conversation.write_line("250 OK").await?,
            }
        }
        Ok(())
    }

    fn count_plaintext_command(&self, command: &str) {
        if self.tls_state == TlsState::Clear && matches!(command, "AUTH" | "MAIL" | "RCPT" | "DATA") {
            self.state.records(|records| records.plaintext_commands += 1);
        }
    }

    async fn introduce_itself(&mut self) -> anyhow::Result<()> {
        let starttls = match (&self.state.behaviour.encryption, self.tls_state) {
            (Encryption::Starttls(_), TlsState::Clear) => "250-STARTTLS\r\n",
            _ => "",
        };
        let mechanisms = match self.state.behaviour.login {
            Login::Refused => "PLAIN LOGIN",
            Login::Taken { mechanism, .. } => mechanism,
        };
        let words = format!("250-mail.test\r\n250-PIPELINING\r\n{starttls}250 AUTH {mechanisms}");
        self.write_line(&words).await
    }

    async fn encrypt(mut self) -> anyhow::Result<Self> {
        let Encryption::Starttls(tls) = &self.state.behaviour.encryption else {
            self.write_line("502 5.5.1 Not offered").await?;
            return Ok(self);
        };
        self.write_line("220 Go ahead").await?;
        let wire = accept(tls, self.client.into_inner().into_inner()).await?;
        Ok(Self {
            client: buffered(wire),
            tls_state: TlsState::Encrypted,
            ..self
        })
    }

    /// RFC 4954, by PLAIN (RFC 4616) or LOGIN.
    async fn log_in(&mut self, line: &str) -> anyhow::Result<()> {
        self.state.records(|records| records.logins += 1);
        let known = match self.state.behaviour.login {
            Login::Refused => false,
            Login::Taken { user, password, .. } => {
                let said = match line.strip_prefix("AUTH PLAIN ") {
                    Some(said) => decoded(said)?,
                    None => format!(
                        "\0{}\0{}",
                        self.ask("Username:").await?,
                        self.ask("Password:").await?
                    ),
                };
                said == format!("\0{user}\0{password}")
            }
        };
        self.write_line(if known {
            "235 2.7.0 Welcome"
        } else {
            "535 5.7.8 Authentication credentials invalid"
        })
        .await
    }

    async fn ask(&mut self, question: &str) -> anyhow::Result<String> {
        self.write_line(&format!("334 {}", BASE64_STANDARD.encode(question)))
            .await?;
        decoded(&self.read_line().await?.context("no answer to a question")?)
    }

    async fn recipient(&mut self, line: &str) -> anyhow::Result<Option<(String, ScriptedReply)>> {
        let (_, address) = line.split_once('<').context("an address without <")?;
        let (address, _) = address.split_once('>').context("an address without >")?;
        let answer = self.state.answer(address);
        if let ScriptedReply::ToRecipient(words) | ScriptedReply::RefuseAndHang(words) = answer {
            self.write_line(words).await?;
            if matches!(answer, ScriptedReply::RefuseAndHang(_)) {
                while self.read_line().await?.is_some() {}
            }
            return Ok(None);
        }
        if let ScriptedReply::TakeRecipientAfter(delay) = answer {
            tokio::time::sleep(delay).await;
        }
        self.write_line("250 OK").await?;
        Ok(Some((address.to_owned(), answer)))
    }

    async fn content(&mut self, recipient: String, answer: ScriptedReply) -> anyhow::Result<()> {
        self.write_line("354 Go ahead").await?;
        if matches!(answer, ScriptedReply::HoldUnread) {
            self.state.records(|records| records.held += 1);
            self.release_held.cancelled().await;
            self.state.records(|records| records.held -= 1);
        }
        let mut content = String::new();
        loop {
            let line = self
                .read_line()
                .await?
                .context("the client went away within a mail")?;
            anyhow::ensure!(!matches!(answer, ScriptedReply::HangUp), "hung up");
            if line == "." {
                break;
            }
            // RFC 5321, 4.5.2
            content += line.strip_prefix('.').unwrap_or(&line);
            content += "\n";
        }
        if let ScriptedReply::ToContent(words) = answer {
            return self.write_line(words).await;
        }
        if matches!(answer, ScriptedReply::HangWhileFaulty) {
            self.state.hang_is_over().await;
            anyhow::bail!("nothing is said of a mail");
        }
        if matches!(answer, ScriptedReply::Hold) && !self.release_held.is_cancelled() {
            self.wait_for_release().await?;
        }
        self.state.accept(recipient, content);
        if let ScriptedReply::TakeAfter(delay) = answer {
            tokio::time::sleep(delay).await;
        }
        self.write_line("250 Taken").await
    }

    async fn wait_for_release(&mut self) -> anyhow::Result<()> {
        let (state, release_held) = (self.state, self.release_held);
        state.records(|records| records.held += 1);
        let told = tokio::select! {
            () = release_held.cancelled() => true,
            _gone = self.read_line() => false,
        };
        state.records(|records| records.held -= 1);
        anyhow::ensure!(told, "the client lost its patience");
        Ok(())
    }

    async fn read_line(&mut self) -> anyhow::Result<Option<String>> {
        if !self.client.buffer().contains(&b'\n') {
            self.client.flush().await?;
        }
        let mut line = String::new();
        let read = self.client.read_line(&mut line).await?;
        Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    /// Writes an answer. Those to commands that came at once go at once, too (RFC 2920, 3.2).
    async fn write_line(&mut self, words: &str) -> anyhow::Result<()> {
        self.client.write_all(words.as_bytes()).await?;
        self.client.write_all(b"\r\n").await?;
        if self.client.buffer().is_empty() {
            self.client.flush().await?;
        }
        Ok(())
    }
}

fn buffered(wire: Box<dyn Wire>) -> BufReader<BufWriter<Box<dyn Wire>>> {
    BufReader::new(BufWriter::new(wire))
}

async fn accept(tls: &TlsAcceptor, wire: Box<dyn Wire>) -> anyhow::Result<Box<dyn Wire>> {
    Ok(Box::new(tls.accept(wire).await?))
}

fn decoded(said: &str) -> anyhow::Result<String> {
    Ok(String::from_utf8(BASE64_STANDARD.decode(said)?)?)
}
