//! Malformed uploads, as no browser sends them, never get a server error.

use http::{StatusCode, header};
use reqwest::{Client, redirect::Policy};
use serde_json::Value;
use testkit::{Ports, Stack, measure::pdf};

const MULTIPART: &str = "multipart/form-data; boundary=x";

fn part(disposition: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Vec<u8> {
    [
        b"--x\r\nContent-Disposition: form-data",
        disposition.as_ref(),
        b"\r\n\r\n",
        content.as_ref(),
        b"\r\n",
    ]
    .concat()
}

fn field(name: &str, value: &str) -> Vec<u8> {
    part(format!("; name=\"{name}\""), value)
}

fn resume(file_name: &str) -> Vec<u8> {
    part(format!("; name=\"resume\"; filename=\"{file_name}\""), pdf(1000))
}

fn fields() -> Vec<u8> {
    [
        field("name", "Zoë Müller"),
        field("email", "zoe@example.org"),
        field("position", "Backend Intern"),
        field("coverLetter", "I would like to."),
    ]
    .concat()
}

fn whole(parts: &[Vec<u8>]) -> Vec<u8> {
    [parts.concat(), b"--x--\r\n".to_vec()].concat()
}

struct Site {
    stack: Stack,
    http: Client,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        let settings = [("RATE_BURST", "1000")];
        Ok(Self {
            stack: Stack::start(Ports::free()?, &settings).await?,
            http: Client::builder().redirect(Policy::none()).build()?,
        })
    }

    async fn send(&self, accept: &str, body: Vec<u8>) -> anyhow::Result<reqwest::Response> {
        let url = format!("{}/api/career-application", self.stack.site());
        let request = self.http.post(url).header(header::CONTENT_TYPE, MULTIPART);
        Ok(request.header(header::ACCEPT, accept).body(body).send().await?)
    }

    /// Returns a script's answer. A browser without scripts must get the same status, or a redirect on success.
    async fn answer(&self, body: Vec<u8>) -> anyhow::Result<(StatusCode, Value)> {
        let page = self.send("text/html", body.clone()).await?.status();
        let answer = self.send("*/*", body).await?;
        let status = answer.status();
        assert!(
            page == status || (status.is_success() && page.is_redirection()),
            "{page} and {status}"
        );
        Ok((status, answer.json().await?))
    }

    async fn answers(&self, with: StatusCode, case: &str, body: Vec<u8>) -> anyhow::Result<()> {
        let (status, answer) = self.answer(body).await?;
        assert_eq!(status, with, "{case}: {answer}");
        Ok(())
    }
}

#[tokio::test]
async fn an_unreadable_upload_is_a_bad_request() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let bad = |content: &[u8]| whole(&[fields(), content.to_vec()]);
    let long = "n".repeat(6_000_000);
    for (case, body) in [
        ("nothing", Vec::new()),
        ("no end", [fields(), resume("cv.pdf")].concat()),
        ("a cut part", fields()[..60].to_vec()),
        ("another boundary", b"--y\r\n\r\n--y--\r\n".to_vec()),
        ("no disposition", bad(b"--x\r\n\r\nvalue\r\n")),
        (
            "no header's end",
            bad(b"--x\r\nContent-Disposition: form-data\r\n"),
        ),
        (
            "a header that is none",
            bad(b"--x\r\n\x01\x02\xff\r\n\r\nvalue\r\n"),
        ),
        ("many headers", bad(&part("\r\nX-Header: x".repeat(40), "value"))),
        ("an attribution that is none", bad(&field("attribution", "{"))),
        ("an attribution that is a list", bad(&field("attribution", "[]"))),
    ] {
        site.answers(StatusCode::BAD_REQUEST, case, body).await?;
    }
    // Text fields and headers of a part are buffered, so their length has a limit.
    for (case, content) in [
        ("a long field", field("name", &"n".repeat(200_000))),
        ("a huge file name", resume(&format!("{long}.pdf"))),
        ("a huge field name", field(&long, "")),
    ] {
        site.answers(StatusCode::PAYLOAD_TOO_LARGE, case, bad(&content))
            .await?;
    }
    let no_part = b"--x--\r\n".to_vec();
    site.answers(StatusCode::UNPROCESSABLE_ENTITY, "no part", no_part)
        .await
}

#[tokio::test]
async fn unknown_parts_of_an_upload_are_ignored() -> anyhow::Result<()> {
    let site = Site::start().await?;
    for (case, content) in [
        ("a part without a name", part("", "value")),
        ("an empty name", field("", "value")),
        ("a name that is no text", part(b"; name=\"\xff\"", "value")),
        ("a long name", field(&"n".repeat(100_000), "")),
        ("a field twice", field("name", "Zoë")),
        (
            "a text of another encoding, which it says",
            part(
                "; name=\"name\"\r\nContent-Type: text/plain; charset=ISO-8859-1",
                b"Zo\xeb",
            ),
        ),
        ("a text of another encoding", part("; name=\"name\"", b"Zo\xeb")),
        (
            "a file's name of many kilobytes",
            resume(&format!("{}.pdf", "n".repeat(60_000))),
        ),
    ] {
        site.answers(StatusCode::OK, case, whole(&[fields(), content]))
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_unusable_resume_name_is_refused_at_its_field() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let named = |disposition: &[u8]| whole(&[fields(), part(disposition, pdf(1000))]);
    for (case, body) in [
        ("no name", named(b"; name=\"resume\"; filename=\"\"")),
        ("no file", whole(&[fields(), field("resume", "my life")])),
        ("no text", named(b"; name=\"resume\"; filename=\"\xff\xfe.pdf\"")),
        ("no end", named(b"; name=\"resume\"; filename=\"cv.pdf")),
        ("no ending", whole(&[fields(), resume(&"n".repeat(60_000))])),
    ] {
        let (status, answer) = site.answer(body).await?;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{case}");
        assert_eq!(
            answer["fields"]["resume"],
            "Send your résumé as a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.",
            "{case}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_type_without_a_boundary_is_refused() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let url = format!("{}/api/career-application", site.stack.site());
    for content_type in [
        "application/json",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=é",
        "multipart/form-data;;;",
        &format!("multipart/form-data; boundary={}", "x".repeat(5000)),
    ] {
        let request = site.http.post(&url).header(header::CONTENT_TYPE, content_type);
        let status = request.body(whole(&[fields()])).send().await?.status();
        assert!(status.is_client_error(), "{content_type}: {status}");
    }
    Ok(())
}
