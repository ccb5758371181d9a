//! Classifies SMTP rejections: hard bounce (no such address) or anything else, which may be otherwise tomorrow.

use super::enhanced_status::enhanced_status;

/// How a refused address is told without an enhanced status code: mailbox unavailable, user not local, name not
/// allowed (RFC 5321, 4.2.3).
const ABOUT_THE_MAILBOX: [u16; 3] = [550, 551, 553];

/// Servers without enhanced codes refuse senders, relays and contents by the same numbers. What is not plainly
/// about the recipient is taken for something else: to go on trying an address costs little, to give up a good one
/// costs a subscriber.
const RECIPIENT: [&str; 9] = [
    "user",
    "mailbox",
    "recipient",
    "account",
    "address",
    "unknown",
    "unrouteable",
    "inbox",
    "exist",
];
const SOMETHING_ELSE: [&str; 16] = [
    "sender",
    "relay",
    "relaying",
    "spam",
    "blocked",
    "blacklisted",
    "blocklisted",
    "listed",
    "policy",
    "content",
    "message",
    "full",
    "quota",
    "authentication",
    "denied",
    "reputation",
];

/// Whether these words, which came with this code, say that the address does not exist. The words hold no address.
pub fn says_no_such_address(code: u16, words: &str) -> bool {
    let words = words.to_lowercase();
    match enhanced_status(5, &words) {
        // Postfix refuses a sender that it does not know by 5.1.0, and in answer to the recipient.
        // Exchange Online says of an unknown recipient that no route leads there.
        Some((4, 1)) => words.contains("recipient address rejected"),
        Some(status) => is_no_such_address(status) && !speak_of(&words, &["sender"]),
        None => {
            ABOUT_THE_MAILBOX.contains(&code)
                && speak_of(&words, &RECIPIENT)
                && !speak_of(&words, &SOMETHING_ELSE)
        }
    }
}

/// RFC 3463, 3.2 and 3.3: 5.1.x is about the address, save for 5.1.7 and 5.1.8, which are about the sender's; 5.2.1
/// is a mailbox that takes nothing.
fn is_no_such_address((subject, detail): (u16, u16)) -> bool {
    match subject {
        1 => !matches!(detail, 7 | 8),
        2 => detail == 1,
        _ => false,
    }
}

fn speak_of(words: &str, topics: &[&str]) -> bool {
    words
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| topics.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_does_not_exist_is_told_from_all_else() {
        for (code, words, gone) in [
            (550, "5.1.1 [...] is no user here", true),
            (550, "5.1.10 Recipient address has null MX", true),
            (554, "5.1.2 no such domain", true),
            (550, "5.2.1 disabled", true),
            (550, "5.4.1 Recipient address rejected: Access denied.", true),
            (550, "5.4.1 no answer from host", false),
            (550, "sorry, no mailbox here by that name (#5.1.1)", true),
            (550, "No such user here", true),
            (551, "User not local; please try another", true),
            (553, "mailbox name not allowed", true),
            (550, "5.1.7 that is no address", false),
            (
                550,
                "5.1.0 : Sender address rejected: User unknown in local recipient table",
                false,
            ),
            (552, "5.2.2 Mailbox full", false),
            (550, "5.7.1 relaying denied to this user", false),
            (550, "5.6.0 no such content", false),
            (552, "mailbox exceeds its size", false),
            (554, "no such user", false),
            (550, "Sender address rejected", false),
            (550, "relay not permitted for this user", false),
            (550, "This message was taken for spam by a user", false),
            (550, "mailbox full", false),
            (550, "no", false),
            (550, "10.5.1.1 knows no reason", false),
        ] {
            assert_eq!(says_no_such_address(code, words), gone, "{code} {words}");
        }
    }
}
