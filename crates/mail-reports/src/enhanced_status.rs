//! Enhanced status codes (RFC 3463), as far as they say what a mail came back for.

/// Whether the code says that the address does not exist or takes nothing (RFC 3463, 3.2 and 3.3), as the notifier reads what a mail
/// server says at once: an address that is wrong or a mailbox that takes nothing, save for what is said of the sender's.
pub fn is_no_such_address(code: &str) -> bool {
    let mut numbers = code.split('.');
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some("5"), Some("1"), Some(detail)) => !["7", "8"].contains(&detail),
        (Some("5"), Some("2"), Some("1")) => true,
        _ => false,
    }
}

/// The first enhanced status code in a server's words.
pub fn in_words(words: &str) -> Option<&str> {
    let is_separator = |c: char| !(c.is_ascii_digit() || c == '.');
    words
        .split(is_separator)
        .map(|word| word.trim_end_matches('.'))
        .find(|word| is_code(word))
}

fn is_code(word: &str) -> bool {
    let numbers: Vec<&str> = word.split('.').collect();
    let is_number = |number: &&str| (1..=3).contains(&number.len());
    numbers.len() == 3 && ["2", "4", "5"].contains(&numbers[0]) && numbers.iter().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_found_in_a_servers_words_and_an_address_of_the_network_is_none() {
        for (words, code) in [
            ("5.1.1 The email account does not exist.", Some("5.1.1")),
            ("smtp;550 5.2.1 <zoe@example.org>", Some("5.2.1")),
            ("550-5.7.26. Unauthenticated", Some("5.7.26")),
            ("#4.4.7 expired", Some("4.4.7")),
            ("No MX for 5.1.1.1 or 10.0.0.1", None),
            ("550 no such user", None),
            ("", None),
        ] {
            assert_eq!(in_words(words), code, "{words}");
        }
    }
}
