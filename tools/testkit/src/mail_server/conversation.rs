//! SMTP (RFC 5321) as far as a mail to one recipient needs it.

use anyhow::Context;
use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::sleep,
};
use tokio_util::codec::{Framed, LinesCodec};

use super::{Encryption, MailFault, ScriptedReply, State};

trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

pub(super) struct Conversation<'a> {
    client: Framed<Box<dyn Wire>, LinesCodec>,
    is_encrypted: bool,
    state: &'a State,
}

impl<'a> Conversation<'a> {
    pub(super) async fn run(socket: TcpStream, state: &'a State) -> anyhow::Result<()> {
        let mut conversation = match &state.behaviour.encryption {
            Encryption::Implicit(tls) => Self::over(Box::new(tls.accept(socket).await?), true, state),
            Encryption::None | Encryption::Starttls(_) => Self::over(Box::new(socket), false, state),
        };
        conversation.say("220 mail.test ESMTP").await?;
        let (mut is_begun, mut to) = (false, None);
        while let Some(line) = conversation.hear().await? {
            let command = line.split([' ', ':']).next().unwrap_or_default();
            let is_secret = matches!(command, "AUTH" | "MAIL" | "RCPT" | "DATA");
            if is_secret && !conversation.is_encrypted {
                state.count(|counts| counts.plaintext_commands += 1);
            }
            match command {
                "EHLO" => {
                    let name = line.split(' ').nth(1).unwrap_or_default().to_owned();
                    state.records(|records| records.hellos.push(name));
                    conversation.introduce_itself().await?;
                }
                "STARTTLS" => conversation = conversation.encrypt().await?,
                "AUTH" => conversation.log_in(&line).await?,
                "MAIL" => {
                    state.count(|counts| counts.begun += 1);
                    is_begun = state.behaviour.to_sender.is_none();
                    conversation
                        .say(state.behaviour.to_sender.unwrap_or("250 OK"))
                        .await?;
                }
                "RCPT" if !is_begun => conversation.say("503 5.5.1 No sender").await?,
                "RCPT" => to = conversation.recipient(&line).await?,
                "DATA" => match to.take() {
                    Some((recipient, reply)) => conversation.content(recipient, reply).await?,
                    None => conversation.say("554 5.5.1 No valid recipient").await?,
                },
                "QUIT" => return conversation.say("221 Bye").await,
                _ => conversation.say("250 OK").await?,
            }
        }
        Ok(())
    }

    fn over(wire: Box<dyn Wire>, is_encrypted: bool, state: &'a State) -> Self {
        Self {
            client: Framed::new(wire, LinesCodec::new()),
            is_encrypted,
            state,
        }
    }

    async fn introduce_itself(&mut self) -> anyhow::Result<()> {
        let starttls = match &self.state.behaviour.encryption {
            Encryption::Starttls(_) if !self.is_encrypted => "250-STARTTLS\r\n",
            _ => "",
        };
        let login = self.state.behaviour.login.as_ref();
        let mechanisms = login.map_or("PLAIN LOGIN", |login| login.mechanism);
        let words = format!("250-mail.test\r\n{starttls}250 AUTH {mechanisms}");
        self.say(&words).await
    }

    async fn encrypt(mut self) -> anyhow::Result<Self> {
        let Encryption::Starttls(tls) = &self.state.behaviour.encryption else {
            self.say("502 5.5.1 Not offered").await?;
            return Ok(self);
        };
        self.say("220 Go ahead").await?;
        let wire = tls.accept(self.client.into_inner()).await?;
        Ok(Self::over(Box::new(wire), true, self.state))
    }

    /// AUTH (RFC 4954), with PLAIN (RFC 4616) or LOGIN.
    async fn log_in(&mut self, line: &str) -> anyhow::Result<()> {
        self.state.count(|counts| counts.logins += 1);
        let sent = match line.strip_prefix("AUTH PLAIN ") {
            Some(encoded) => decoded(encoded)?,
            None => format!(
                "\0{}\0{}",
                self.ask("Username:").await?,
                self.ask("Password:").await?
            ),
        };
        let login = self.state.behaviour.login.as_ref();
        let is_known = login.is_some_and(|login| sent == format!("\0{}\0{}", login.user, login.password));
        self.say(match is_known {
            true => "235 2.7.0 Welcome",
            false => "535 5.7.8 Authentication credentials invalid",
        })
        .await
    }

    async fn ask(&mut self, question: &str) -> anyhow::Result<String> {
        self.say(&format!("334 {}", BASE64_STANDARD.encode(question)))
            .await?;
        decoded(&self.hear().await?.context("no answer to a question")?)
    }

    async fn recipient(&mut self, line: &str) -> anyhow::Result<Option<(String, ScriptedReply)>> {
        let (_, address) = line.split_once('<').context("an address without <")?;
        let (address, _) = address.split_once('>').context("an address without >")?;
        let reply = self.state.reply(address);
        if let ScriptedReply::ToRecipient(words) = reply {
            self.say(words).await?;
            return Ok(None);
        }
        self.say("250 OK").await?;
        Ok(Some((address.to_owned(), reply)))
    }

    async fn content(&mut self, recipient: String, reply: ScriptedReply) -> anyhow::Result<()> {
        self.say("354 Go ahead").await?;
        let state = self.state;
        if matches!(reply, ScriptedReply::HoldUnread) {
            state.count(|counts| counts.held += 1);
            state.release_held.cancelled().await;
            state.count(|counts| counts.held -= 1);
        }
        let mut content = String::new();
        loop {
            let line = self
                .hear()
                .await?
                .context("the client disconnected within a mail")?;
            anyhow::ensure!(!matches!(reply, ScriptedReply::HangUp), "hung up");
            if line == "." {
                break;
            }
            // Dot-stuffing (RFC 5321, 4.5.2).
            content += line.strip_prefix('.').unwrap_or(&line);
            content += "\n";
        }
        match reply {
            ScriptedReply::ToContent(words) => return self.say(words).await,
            ScriptedReply::Hang => {
                state
                    .fault_is(|fault| !matches!(fault, MailFault::Each(ScriptedReply::Hang)))
                    .await;
                anyhow::bail!("the mail gets no reply");
            }
            ScriptedReply::Hold if !state.release_held.is_cancelled() => self.wait_for_release().await?,
            _ => {}
        }
        state.accept(recipient, content);
        if let ScriptedReply::TakeAfter(delay) = reply {
            sleep(delay).await;
        }
        self.say("250 Accepted").await
    }

    async fn wait_for_release(&mut self) -> anyhow::Result<()> {
        let state = self.state;
        state.count(|counts| counts.held += 1);
        let is_released = tokio::select! {
            () = state.release_held.cancelled() => true,
            _gone = self.hear() => false,
        };
        state.count(|counts| counts.held -= 1);
        anyhow::ensure!(is_released, "the client disconnected");
        Ok(())
    }

    async fn hear(&mut self) -> anyhow::Result<Option<String>> {
        Ok(self.client.next().await.transpose()?)
    }

    async fn say(&mut self, words: &str) -> anyhow::Result<()> {
        Ok(self.client.send(format!("{words}\r")).await?)
    }
}

fn decoded(base64: &str) -> anyhow::Result<String> {
    Ok(String::from_utf8(BASE64_STANDARD.decode(base64)?)?)
}
