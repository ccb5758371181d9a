//! Checks that the mail server accepts connections, and that our addresses are not in domains for examples.

use std::time::Duration;

use lettre::message::Mailbox;
use site_mail::{AddressSettings, is_example};
use tokio::{net::TcpStream, time::timeout};

use crate::finding::Finding;

const TIMEOUT: Duration = Duration::from_secs(10);

pub async fn examine_server(host: Option<&str>, port: u16) -> Finding {
    let remedy = "set SMTP_HOST and SMTP_PORT as for the notifier";
    let Some(host) = host else {
        let says = "not checked, because SMTP_HOST is not set";
        return Finding::warning("mail server", says, remedy);
    };
    let what = format!("mail server {host}:{port}");
    match timeout(TIMEOUT, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => Finding::ok(what, "accepts connections"),
        Ok(Err(error)) => Finding::wrong(what, error.to_string(), remedy),
        Err(_) => Finding::wrong(what, "accepts no connection in time", remedy),
    }
}

/// A finding for each address that is set.
pub fn examine_addresses(settings: &AddressSettings) -> Vec<Finding> {
    let ours = [
        ("SALES_TO", &settings.sales_to),
        ("RECRUITERS_TO", &settings.recruiters_to),
        ("OPERATOR_TO", &settings.operator_to),
        ("MAIL_FROM", &settings.mail_from),
    ];
    let set = ours
        .into_iter()
        .filter_map(|(name, mailbox)| Some((name, mailbox.as_ref()?)));
    let finding = |(name, mailbox): (&str, &Mailbox)| {
        if is_example(&mailbox.email) {
            let says = "in a domain for examples, where nobody reads mail";
            Finding::warning(name, says, "set it here and for the notifier")
        } else {
            Finding::ok(name, "not in a domain for examples")
        }
    };
    set.map(finding).collect()
}
