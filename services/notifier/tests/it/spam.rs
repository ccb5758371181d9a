//! SpamAssassin judges each mail by its local rules.

use std::collections::BTreeMap;

use anyhow::Context;
use testkit::external_program;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};
use tokio::process::Command;

use crate::{
    samples,
    snapshots::context,
    wire::{KINDS, every_mail},
};

/// Receivers treat a score of 5 as spam.
const LIMIT: f64 = 1.0;

/// Headers of the receiving server, because rules about origin fire without them. Rules treat reserved
/// addresses as forged, so this one is not reserved.
fn taken(number: usize, at: OffsetDateTime) -> anyhow::Result<String> {
    let at = at.format(&Rfc2822)?;
    Ok(format!(
        "Return-Path: <hello@oculant.example>\n\
        Received: from mail.oculant.example (mail.oculant.example [1.1.1.1])\n\
        \tby mx.example.com (Postfix) with ESMTPS id {MAIL}{number:03}\n\
        \tfor <somebody@example.com>; {at}\n"
    ))
}

const MAIL: &str = "4ZtY6h1Jk7z9";

struct Judgement {
    score: f64,
    reasons: Vec<String>,
}

impl Judgement {
    /// Reads the header that [`judge`] adds: `0.1 RULE=0.1,OTHER=0`.
    fn read(header: &str) -> anyhow::Result<Self> {
        let (score, reasons) = header.split_once(' ').context("no reasons")?;
        Ok(Self {
            score: score.parse()?,
            reasons: reasons
                .split(',')
                .map(|reason| reason.replace('=', " "))
                .collect(),
        })
    }
}

/// Judges all mails in one run, without network, learned data or preferences. Each mail has a time of
/// receipt, because delayed mails are suspicious.
async fn judge(mails: &[(String, OffsetDateTime)]) -> anyhow::Result<Vec<Judgement>> {
    let mut spamassassin = Command::new("spamassassin");
    spamassassin
        .args(["--local", "--mbox", "--nocreate-prefs", "--prefspath=/dev/null"])
        .args(["--cf=use_bayes 0", "--cf=fold_headers 0"])
        .arg("--cf=add_header all Judgement _SCORE_ _TESTSSCORES(,)_");
    let mut mailbox = String::new();
    for (number, (mail, taken_at)) in mails.iter().enumerate() {
        let lines = mail.replace("\r\n", "\n").replace("\nFrom ", "\n>From ");
        mailbox += "From hello@oculant.example Fri Nov 20 12:00:01 2026\n";
        mailbox += &format!("{}{lines}\n\n", taken(number, *taken_at)?);
    }
    let judged = external_program::run(spamassassin, mailbox.as_bytes()).await?;
    let mut judgements = BTreeMap::new();
    // SpamAssassin prints the mails in any order, each below its judgement.
    for mail in judged.split("\nX-Spam-Judgement: ").skip(1) {
        let (judgement, below) = mail.split_once('\n').context("no mail below a judgement")?;
        let (_, id) = below.split_once(MAIL).context("no id")?;
        let number: usize = id.get(..3).context("no number")?.parse()?;
        judgements.insert(number, Judgement::read(judgement)?);
    }
    anyhow::ensure!(judgements.len() == mails.len(), "it judged {}", judgements.len());
    Ok(judgements.into_values().collect())
}

/// GTUBE, which every SpamAssassin must call spam.
const SPAM: &str = "From: hello@oculant.example\r\nSubject: Hello\r\n\r\n\
    XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X\r\n";

/// Judges all mails in one run, because reading the rules takes longest.
#[tokio::test]
async fn no_mail_scores_as_spam() -> anyhow::Result<()> {
    let context = context(&[])?;
    let (mut names, mut mails) = (Vec::new(), vec![(SPAM.to_owned(), samples::TIME)]);
    for (name, mail) in samples::mails(&context).await? {
        names.push(name);
        let message = mail.into_message(&context, samples::TIME)?;
        mails.push((String::from_utf8(message.formatted())?, samples::TIME));
    }
    let sent = every_mail(&[]).await?.into_iter();
    mails.extend(sent.map(|mail| (mail, OffsetDateTime::now_utc())));
    let judgements = judge(&mails).await?;
    let (spam, ours) = judgements.split_first().context("no judgement")?;
    assert!(
        spam.score > 100.0,
        "an advertisement of the worst kind has {}",
        spam.score
    );
    assert_eq!(ours.len(), names.len() + KINDS);
    for (number, Judgement { score, reasons }) in ours.iter().enumerate() {
        let name = names.get(number).unwrap_or(&"a mail as it is sent");
        assert!(*score < LIMIT, "{name}: {score} points ({})", reasons.join(", "));
    }
    Ok(())
}
