//! Content of a message as it goes over the wire; it is let go of as soon as it is written.

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
            return connection.command(dot_stuffed(&self.message)).await;
        }
        // lettre drops the pieces before it writes the end. What that costs (see `dot_stuffed`) is little beside the rest.
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

/// A message with its dots stuffed and its end, ready to be written in one piece (RFC 5321, 4.5.2). lettre writes the end
/// by itself, and until the server acknowledges what came before, which it delays for 40 ms, the system keeps the end back.
fn dot_stuffed(message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    let stuffed = message.replace("\r\n.", "\r\n..");
    let first = if message.starts_with('.') { "." } else { "" };
    format!("{first}{stuffed}\r\n.\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_begins_with_a_dot_does_not_end_the_message() {
        assert_eq!(
            dot_stuffed(b".one\r\n.\r\n..two\r\nthree."),
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
