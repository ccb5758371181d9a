//! `sitectl dns-records`: DNS records that authenticate our mails (SPF, DKIM, DMARC).

use anyhow::Context as _;
use clap::Args;
use lettre::{Address, message::Mailbox};
use serde_json::{Value, json};
use site_mail::dkim::{DkimSettings, dns_name};
use site_mail::mailbox;

use crate::output::print_output;

/// A mistake can be corrected within an hour.
const TTL_SECONDS: u32 = 3600;
/// Maximum length of a string in a TXT record (RFC 1035, 3.3.14); receivers join strings (RFC 6376, 3.6.2.2; RFC 7208,
/// 3.3).
const MAX_STRING_BYTES: usize = 255;

/// The notifier's settings, and its mail servers.
#[derive(Args, Debug)]
pub struct DnsRecordsArgs {
    /// Sender of mails
    #[arg(long, env = "MAIL_FROM", value_parser = mailbox)]
    mail_from: Mailbox,
    #[command(flatten)]
    dkim: DkimSettings,
    #[command(flatten)]
    senders: Senders,
    /// Policy for mails that fail both SPF and DKIM: start with `none`, and read the reports
    #[arg(long, value_parser = ["none", "quarantine", "reject"], default_value = "none")]
    dmarc_policy: String,
    /// Address for receivers' reports
    #[arg(long)]
    dmarc_reports: Option<Address>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Mail servers that send our mails, from their provider's documentation
#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct Senders {
    /// Domain that publishes an SPF record of the mail servers, as most providers do; repeatable
    #[arg(long, value_parser = dns_name)]
    spf_include: Vec<String>,
    /// Host name of a mail server; repeatable
    #[arg(long, value_parser = dns_name)]
    spf_host: Vec<String>,
}

/// A TXT record as a line of a zone file (RFC 1035, 5.1).
fn zone_line((name, value): &(String, String)) -> String {
    let strings = value.as_bytes().chunks(MAX_STRING_BYTES);
    let strings = strings.map(String::from_utf8_lossy);
    let strings: Vec<String> = strings.map(|string| format!("\"{string}\"")).collect();
    format!("{name}. {TTL_SECONDS} IN TXT {}", strings.join(" "))
}

/// # Errors
///
/// If the domain of MAIL_FROM is not a DNS name.
pub fn dns_records(args: &DnsRecordsArgs) -> anyhow::Result<()> {
    let domain = args.mail_from.email.domain();
    let domain = dns_name(domain)
        .map_err(|reason| anyhow::anyhow!("The setting MAIL_FROM is wrong: \"{domain}\": {reason}."))?;
    let mut notes = vec![format!(
        "A domain has one SPF and one DMARC record: if {domain} has one, merge them."
    )];
    // Softfail (`~all`), because a forwarded mail fails SPF, and passes DMARC by its signature alone.
    let (includes, hosts) = (args.senders.spf_include.iter(), args.senders.spf_host.iter());
    let includes = includes.map(|name| format!("include:{name}"));
    let hosts = hosts.map(|name| format!("a:{name}"));
    let senders: Vec<String> = includes.chain(hosts).collect();
    let mut records = vec![(domain.clone(), format!("v=spf1 {} ~all", senders.join(" ")))];
    let signed = args.dkim.dns_record().map_err(anyhow::Error::msg);
    match signed.context("The setting DKIM_KEY is wrong")? {
        Some(record) => records.push(record),
        None => {
            let note = "There is no DKIM record, because DKIM_KEY is not set: mails are not signed.";
            notes.push(note.to_owned());
        }
    }
    let reports = args.dmarc_reports.iter();
    let reports: String = reports.map(|address| format!("; rua=mailto:{address}")).collect();
    let policy = format!("v=DMARC1; p={}{reports}", args.dmarc_policy);
    records.push((format!("_dmarc.{domain}"), policy));
    let lines = notes.iter().map(|note| format!("; {note}"));
    let lines = lines.chain(records.iter().map(zone_line));
    let records = records.iter();
    let records: Vec<Value> = records
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect();
    let document = json!({ "records": records, "notes": notes });
    print_output(args.json, &document, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_into_strings_of_255_bytes() {
        let line = zone_line(&("company.com".to_owned(), "x".repeat(600)));
        let lengths: Vec<usize> = line.split('"').skip(1).step_by(2).map(str::len).collect();
        assert_eq!(lengths, [255, 255, 90]);
        assert!(line.starts_with("company.com. 3600 IN TXT \"x"), "{line}");
    }
}
