//! Content of a message as it goes over the wire; it is let go of as soon as it is written.

use std::{
    borrow::Cow,
    fmt::{self, Display, Formatter, Write},
};

use bytes::Bytes;
use lettre::{
    Message,
    transport::smtp::{Error, client::AsyncSmtpConnection, response::Response},
};

use super::limits::BudgetShare;

/// The most that is written in one piece.
const PIECE_BYTES: usize = 64 * 1024;

/// A message's content, with the share of the budget that its attachment takes.
pub struct Content {
    message: Bytes,
    share: BudgetShare,
}

impl Content {
    /// The message, formatted.
    pub fn new(message: &Message, share: BudgetShare) -> Self {
        Self {
            message: message.formatted().into(),
            share,
        }
    }

    /// Writes it and its end, and gives the server's answer. A server may take ten minutes for that: meanwhile nothing
    /// is held of a large content, nor of the budget.
    ///
    /// # Errors
    ///
    /// If the connection fails, or the server refuses the message.
    pub async fn send(self, connection: &mut AsyncSmtpConnection) -> Result<Response, Error> {
        if self.message.len() <= PIECE_BYTES {
            let message = String::from_utf8_lossy(&self.message);
            return connection.command(DotStuffed(message)).await;
        }
        // lettre drops the pieces before it writes the end. What that costs (see [`DotStuffed`]) is little beside the rest.
        connection.message_iter(self.into_pieces()).await
    }

    fn into_pieces(self) -> impl Iterator<Item = Bytes> + Send {
        let Self { mut message, share } = self;
        std::iter::from_fn(move || {
            let _until_all_is_written = &share;
            let piece = message.split_to(message.len().min(PIECE_BYTES));
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// A message with its dots stuffed and its end, to be written in one piece (RFC 5321, 4.5.2). lettre writes the end by itself, and
/// until the server acknowledges what came before, which it delays for 40 ms, the system keeps the end back.
struct DotStuffed<'a>(Cow<'a, str>);

impl Display for DotStuffed<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for line in self.0.split_inclusive('\n') {
            if line.starts_with('.') {
                out.write_char('.')?;
            }
            out.write_str(line)?;
        }
        out.write_str("\r\n.\r\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_begins_with_a_dot_does_not_end_the_message() {
        assert_eq!(
            DotStuffed(".one\r\n.\r\n..two\r\nthree.".into()).to_string(),
            "..one\r\n..\r\n...two\r\nthree.\r\n.\r\n"
        );
    }

    #[test]
    fn the_pieces_are_the_whole() {
        let whole: Vec<u8> = (0..=255).cycle().take(2 * PIECE_BYTES + 1).collect();
        let content = Content {
            message: whole.clone().into(),
            share: BudgetShare::default(),
        };
        let pieces: Vec<Bytes> = content.into_pieces().collect();
        assert_eq!(
            pieces.iter().map(Bytes::len).collect::<Vec<_>>(),
            [PIECE_BYTES, PIECE_BYTES, 1]
        );
        assert_eq!(pieces.concat(), whole);
    }
}
