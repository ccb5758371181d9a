//! Each mail as sent: headers, text and HTML, with fixed ids and a fixed time.

use std::{collections::BTreeMap, env, fmt::Write, fs};

use clap::Parser;
use notifier::{MailContext, Settings};
use testkit::root;

use crate::samples;

pub fn context(more: &[&str]) -> anyhow::Result<MailContext> {
    let brand = concat!("--brand-file=", env!("CARGO_MANIFEST_DIR"), "/../../brand.json");
    let flags = [
        "notifier",
        brand,
        "--site-url=https://oculant.example",
        "--token-key=a token key of thirty-two bytes or more",
        "--s3-access-key-id=key",
        "--s3-secret-access-key=secret",
        "--sales-to=sales@oculant.example",
        "--recruiters-to=Recruiters <recruiters@oculant.example>",
    ];
    MailContext::new(&Settings::try_parse_from(flags.iter().chain(more))?)
}

/// Removes signatures, which change with the time.
fn without_signatures(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("?x-id=") {
        let (before, link) = rest.split_at(start);
        let end = link
            .find(|c: char| c == '"' || c.is_whitespace())
            .unwrap_or(link.len());
        kept.push_str(before);
        kept.push_str("?[signature]");
        rest = &link[end..];
    }
    kept + rest
}

#[tokio::test]
async fn every_mail_looks_like_this() -> anyhow::Result<()> {
    let context = context(&[])?;
    for (name, mail) in samples::mails(&context).await? {
        let words = mail.rendered(&context)?;
        let message = mail.into_message(&context, samples::TIME)?;
        let mut shown = String::new();
        write!(shown, "{}", message.headers())?;
        write!(shown, "\n{}\n{}", words.text, words.html)?;
        insta::assert_snapshot!(name, without_signatures(&shown));
    }
    Ok(())
}

#[tokio::test]
async fn generate_writes_a_preview_of_each_mail() -> anyhow::Result<()> {
    if env::var_os("GENERATE").is_none() {
        return Ok(());
    }
    let (folder, context) = (root().join("target/mail-preview"), context(&[])?);
    fs::create_dir_all(&folder)?;
    for (name, mail) in samples::mails(&context).await? {
        let words = mail.rendered(&context)?;
        fs::write(folder.join(format!("{name}.html")), words.html)?;
        let text = format!("Subject: {}\n\n{}", words.subject, words.text);
        fs::write(folder.join(format!("{name}.txt")), text)?;
    }
    Ok(())
}

#[tokio::test]
async fn the_same_event_makes_the_same_message() -> anyhow::Result<()> {
    let context = context(&[])?;
    let written = async || -> anyhow::Result<Vec<Vec<u8>>> {
        let mails = samples::mails(&context).await?;
        mails
            .into_iter()
            // The recruiters' mail has a newly signed link each time.
            .filter(|(name, _)| *name != "recruiter-application")
            .map(|(_, mail)| Ok(mail.into_message(&context, samples::TIME)?.formatted()))
            .collect()
    };
    assert!(written().await? == written().await?);
    Ok(())
}

#[tokio::test]
async fn visitor_text_is_escaped_and_lines_fit_smtp() -> anyhow::Result<()> {
    let context = context(&[])?;
    for (name, mail) in samples::mails(&context).await? {
        let html = mail.rendered(&context)?.html;
        assert!(!html.contains("<script") && !html.contains("<b>"), "{name}");
        let message = mail.into_message(&context, samples::TIME)?.formatted();
        assert!(message.is_ascii(), "{name} needs 8BITMIME");
        // Maximum line length (RFC 5322, 2.1.1).
        let longest = message.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
        assert!(longest <= Some(999), "{name}: {longest:?}");
    }
    Ok(())
}

#[tokio::test]
async fn the_brand_file_alone_brands_every_mail() -> anyhow::Result<()> {
    let ours = fs::read_to_string(root().join("brand.json"))?;
    let theirs = tempfile::NamedTempFile::new()?;
    let text = ours.replace("Oculant", "Nightjar").replace("oculant", "nightjar");
    fs::write(theirs.path(), text.replace("Chennai", "Berlin"))?;
    let context = MailContext::new(&Settings::try_parse_from([
        "notifier",
        &format!("--brand-file={}", theirs.path().display()),
        "--site-url=https://nightjar.example",
        "--token-key=a token key of thirty-two bytes or more",
        "--s3-access-key-id=key",
        "--s3-secret-access-key=secret",
    ])?)?;
    for (name, mail) in samples::mails(&context).await? {
        let words = mail.rendered(&context)?;
        let headers = mail.into_message(&context, samples::TIME)?.headers().to_string();
        assert!(words.html.contains("Nightjar"), "{name}: the company");
        assert!(headers.contains("nightjar.example"), "{name}: the sender");
        for part in [&words.subject, &words.text, &words.html, &headers] {
            assert!(!part.to_lowercase().contains("oculant"), "{name}: {part}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_template_without_one_of_its_fields_fails() -> anyhow::Result<()> {
    let context = context(&[])?;
    for (name, mut mail) in samples::mails(&context).await? {
        let given = mail.values.clone();
        let fields: Vec<String> = given.try_iter()?.map(|field| field.to_string()).collect();
        for missing in fields {
            let left = given.try_iter()?.filter(|field| field.to_string() != missing);
            mail.values = left
                .map(|field| Ok((field.to_string(), given.get_item(&field)?)))
                .collect::<Result<BTreeMap<_, _>, minijinja::Error>>()?
                .into();
            let refused = mail.rendered(&context).err();
            assert!(refused.is_some(), "{name} does without {missing}");
        }
    }
    Ok(())
}
