//! Senders and recipients of mails.

use clap::Args;
use lettre::{Address, message::Mailbox};

/// Domains that are reserved for examples (RFC 2606, 2 and 3).
const EXAMPLES: [&str; 4] = ["example", "example.com", "example.net", "example.org"];

/// The company's own addresses.
#[derive(Args, Debug, Clone)]
pub struct AddressSettings {
    /// Recipient of contact messages; the brand's sales address by default
    #[arg(long, env = "SALES_TO", value_parser = mailbox)]
    pub sales_to: Option<Mailbox>,
    /// Recipient of applications; the brand's careers address by default
    #[arg(long, env = "RECRUITERS_TO", value_parser = mailbox)]
    pub recruiters_to: Option<Mailbox>,
    /// Recipient of reports about undeliverable events; the brand's admin address by default
    #[arg(long, env = "OPERATOR_TO", value_parser = mailbox)]
    pub operator_to: Option<Mailbox>,
    /// Sender of mails; the brand's name and sales address by default
    #[arg(long, env = "MAIL_FROM", value_parser = mailbox)]
    pub mail_from: Option<Mailbox>,
}

/// Parses a sender or recipient from the settings.
///
/// # Errors
///
/// If it is no address. The error shows an example.
pub fn mailbox(raw: &str) -> Result<Mailbox, &'static str> {
    raw.parse()
        .map_err(|_| "it is not an e-mail address such as sales@company.com or Sales <sales@company.com>")
}

/// Whether the address is in a domain for examples, where nobody reads mail.
pub fn is_example(address: &Address) -> bool {
    let domain = address.domain().to_ascii_lowercase();
    EXAMPLES.iter().any(|example| {
        let above = domain.strip_suffix(*example);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_domains_and_those_below_are_examples() {
        let is_example = |raw: &str| is_example(&raw.parse().expect("an address"));
        for example in [
            "a@oculant.example",
            "a@mail.OCULANT.Example",
            "a@example.com",
            "a@x.example.org",
        ] {
            assert!(is_example(example), "{example}");
        }
        for real in [
            "a@oculant.com",
            "a@myexample.com",
            "a@example.de",
            "a@example.company",
        ] {
            assert!(!is_example(real), "{real}");
        }
    }
}
