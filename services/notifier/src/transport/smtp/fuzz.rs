//! Fuzz target: what a mail server answers, from its greeting to the end of a mail. How it is run: docs/testing.md.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    task::{Context, Poll},
};

use bolero::check;
use lettre::{
    Message, address::Envelope, transport::smtp::client::AsyncTokioStream,
    transport::smtp::extension::ClientId,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    runtime::Builder,
};
use visitor::invisible::is_invisible;

use super::{content::Content, error::HandOverError, limits::BudgetShare, transaction::Connection};

const ITERATIONS: usize = 500;
const RECIPIENT: &str = "asha.rao@example.com";
/// What is kept of an answer, and our words before it.
const MAX_REASON_CHARACTERS: usize = 300 + 50;

/// A server that has its answers ready, and takes whatever it is told.
#[derive(Debug)]
struct Server {
    answers: Vec<u8>,
    read: usize,
    /// How much comes at once.
    piece_bytes: usize,
}

impl AsyncTokioStream for Server {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok((Ipv4Addr::LOCALHOST, 25).into())
    }
}

impl AsyncRead for Server {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = &self.answers[self.read..];
        let bytes = left.len().min(self.piece_bytes).min(buffer.remaining());
        buffer.put_slice(&left[..bytes]);
        self.read += bytes;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Server {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// `None` where there is no conversation at all.
async fn hand_over(server: Server, hello: &ClientId, message: &Message) -> Option<Result<(), HandOverError>> {
    let mut connection = Connection::greet(Box::new(server), hello, None).await.ok()?;
    Some(converse(&mut connection, message.envelope(), message).await)
}

async fn converse(
    connection: &mut Connection,
    envelope: &Envelope,
    message: &Message,
) -> Result<(), HandOverError> {
    let sent = connection.send_envelope(envelope).await;
    sent.map_err(|(_, error)| error)?;
    let content = Content::new(message, BudgetShare::default());
    connection.send_content(content, envelope).await
}

/// The classes of the answers, one for each command (RFC 5321, 4.2); those to MAIL, RCPT, DATA and the content.
fn classes(answers: &[u8]) -> Vec<u8> {
    let answers = String::from_utf8_lossy(answers);
    let lines = answers.split("\r\n").map(str::as_bytes);
    let last_lines = lines.filter(|line| line.get(3) != Some(&b'-'));
    let classes = last_lines.filter_map(|line| line.first().copied());
    // Before them come the greeting, and the answers to EHLO and to the second one.
    classes.skip(3).take(4).collect()
}

fn reason(error: &HandOverError) -> String {
    match error {
        HandOverError::Message(error) => error.to_string(),
        HandOverError::Deferred(reason)
        | HandOverError::RecipientDeferred(reason)
        | HandOverError::Interrupted(reason)
        | HandOverError::Away(_, reason) => reason.clone(),
    }
}

/// The first byte says how much of the answers comes at once.
#[test]
fn whatever_a_mail_server_answers_a_mail_is_sent_where_each_step_was_and_no_reason_holds_an_address() {
    let message = Message::builder()
        .from("Sales <sales@oculant.example>".parse().expect("an address"))
        .to(RECIPIENT.parse().expect("an address"))
        .body("text".to_owned())
        .expect("a message");
    let hello = ClientId::default();
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    check!(name = "smtp-answers")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let (&[piece], answers) = input.split_first_chunk().unwrap_or((&[0], input));
            let server = Server {
                answers: answers.to_vec(),
                read: 0,
                piece_bytes: 1 + usize::from(piece),
            };
            match runtime.block_on(hand_over(server, &hello, &message)) {
                Some(Ok(())) => assert_eq!(classes(answers), b"2232"),
                Some(Err(error)) => {
                    let reason = reason(&error);
                    let told = reason.to_lowercase();
                    assert!(!told.contains(RECIPIENT), "{told}");
                    let mut words = told.split(|c: char| !c.is_alphanumeric() && !".-_+".contains(c));
                    assert!(words.all(|word| word != "asha.rao"), "{told}");
                    assert!(
                        !told.contains(|c: char| c.is_control() || is_invisible(c)),
                        "{told:?}"
                    );
                    assert!(reason.chars().count() <= MAX_REASON_CHARACTERS, "{reason}");
                }
                None => {}
            }
        });
}
