//! Uploads that no browser sends. The answer never blames our side.

use http::{StatusCode, header};
use reqwest::{Client, redirect::Policy};
use serde_json::Value;
use testkit::{Ports, Stack, measure::pdf};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Duration, timeout},
};

const SOON: Duration = Duration::from_secs(45);
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

    async fn send(
        &self,
        content_type: &str,
        accept: &str,
        body: Vec<u8>,
    ) -> anyhow::Result<reqwest::Response> {
        let url = format!("{}/api/career-application", self.stack.site());
        let request = self.http.post(url).header(header::CONTENT_TYPE, content_type);
        Ok(request.header(header::ACCEPT, accept).body(body).send().await?)
    }

    /// A browser without scripts gets the same status, or a redirect on success.
    async fn answer(&self, content_type: &str, body: Vec<u8>) -> anyhow::Result<(StatusCode, Value)> {
        let page = self.send(content_type, "text/html", body.clone()).await?.status();
        let answer = self.send(content_type, "*/*", body).await?;
        let status = answer.status();
        assert!(
            page == status || (status.is_success() && page.is_redirection()),
            "{page} and {status}"
        );
        Ok((status, answer.json().await?))
    }

    async fn answers_all<'a>(
        &self,
        with: StatusCode,
        cases: impl IntoIterator<Item = (&'a str, Vec<u8>)>,
    ) -> anyhow::Result<()> {
        for (case, body) in cases {
            let (status, answer) = self.answer(MULTIPART, body).await?;
            assert_eq!(status, with, "{case}: {answer}");
        }
        Ok(())
    }
}

#[tokio::test]
async fn two_resumes_are_refused_at_their_field() -> anyhow::Result<()> {
    let site = Site::start().await?;
    for body in [
        whole(&[fields(), resume("cv.pdf"), resume("cv.pdf")]),
        whole(&[resume("cv.pdf"), fields(), resume("letter.pdf")]),
        whole(&[
            part("; name=\"resume\"; filename=\"\"", "x"),
            fields(),
            resume("cv.pdf"),
        ]),
    ] {
        let (status, answer) = site.answer(MULTIPART, body).await?;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(
            answer["fields"]["resume"],
            "Send one résumé only. If you have several files, please make one of them."
        );
    }
    assert!(site.stack.nats.events().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_the_senders_mistake() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let bad = |content: &[u8]| whole(&[fields(), content.to_vec()]);
    site.answers_all(
        StatusCode::BAD_REQUEST,
        [
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
        ],
    )
    .await?;
    let long = [("a long field", bad(&field("name", &"n".repeat(200_000))))];
    site.answers_all(StatusCode::PAYLOAD_TOO_LARGE, long).await
}

#[tokio::test]
async fn what_the_form_does_not_ask_for_is_passed_over() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let besides = |content: Vec<u8>| whole(&[fields(), content]);
    site.answers_all(
        StatusCode::OK,
        [
            ("a part without a name", besides(part("", "value"))),
            ("an empty name", besides(field("", "value"))),
            (
                "a name that is no text",
                besides(part(b"; name=\"\xff\"", "value")),
            ),
            ("a long name", besides(field(&"n".repeat(100_000), ""))),
            ("a field twice", besides(field("name", "Zoë"))),
            (
                "a text of another encoding, which it says",
                besides(part(
                    "; name=\"name\"\r\nContent-Type: text/plain; charset=ISO-8859-1",
                    b"Zo\xeb",
                )),
            ),
            (
                "a text of another encoding",
                besides(part("; name=\"name\"", b"Zo\xeb")),
            ),
            (
                "a file's name of many kilobytes",
                besides(resume(&format!("{}.pdf", "n".repeat(60_000)))),
            ),
        ],
    )
    .await
}

/// The parser buffers the head of a part, so its length has a limit.
#[tokio::test]
async fn a_part_whose_head_is_megabytes_long_is_too_large() -> anyhow::Result<()> {
    let long = "n".repeat(6_000_000);
    Site::start()
        .await?
        .answers_all(
            StatusCode::PAYLOAD_TOO_LARGE,
            [
                (
                    "a file's name",
                    whole(&[fields(), resume(&format!("{long}.pdf"))]),
                ),
                ("a field's name", whole(&[fields(), field(&long, "")])),
            ],
        )
        .await
}

#[tokio::test]
async fn a_resume_that_has_no_name_that_is_known_is_refused_at_its_field() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let named = |disposition: &[u8]| whole(&[fields(), part(disposition, pdf(1000))]);
    for (case, body) in [
        ("no name", named(b"; name=\"resume\"; filename=\"\"")),
        ("no file", whole(&[fields(), field("resume", "my life")])),
        ("no text", named(b"; name=\"resume\"; filename=\"\xff\xfe.pdf\"")),
        ("no end", named(b"; name=\"resume\"; filename=\"cv.pdf")),
        ("no ending", whole(&[fields(), resume(&"n".repeat(60_000))])),
    ] {
        let (status, answer) = site.answer(MULTIPART, body).await?;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{case}");
        assert_eq!(
            answer["fields"]["resume"],
            "Send your résumé as a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.",
            "{case}"
        );
    }
    let others = [("no part", b"--x--\r\n".to_vec())];
    site.answers_all(StatusCode::UNPROCESSABLE_ENTITY, others).await
}

#[tokio::test]
async fn a_type_without_a_boundary_is_refused() -> anyhow::Result<()> {
    let site = Site::start().await?;
    for content_type in [
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=é",
        "multipart/form-data;;;",
        &format!("multipart/form-data; boundary={}", "x".repeat(5000)),
    ] {
        let (status, _) = site.answer(content_type, whole(&[fields()])).await?;
        assert!(status.is_client_error(), "{content_type}: {status}");
    }
    Ok(())
}

#[tokio::test]
async fn a_body_that_is_framed_wrongly_is_the_senders_mistake() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let mut line = TcpStream::connect(("127.0.0.1", site.stack.ports.site)).await?;
    let head = format!(
        "POST /api/career-application HTTP/1.1\r\nHost: site\r\nTransfer-Encoding: chunked\r\nContent-Type: {MULTIPART}\r\n\r\n"
    );
    line.write_all(head.as_bytes()).await?;
    line.write_all(b"5\r\n--x\r\n\r\nno length\r\n").await?;
    let mut answer = [0; 12];
    timeout(SOON, line.read_exact(&mut answer)).await??;
    assert_eq!(answer, *b"HTTP/1.1 400");
    Ok(())
}

#[tokio::test]
async fn a_resume_is_taken_whatever_the_length_of_its_name() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let names = ["x".repeat(76), "x".repeat(251), "ஆ".repeat(83), "🙂".repeat(60)];
    for name in &names {
        let body = whole(&[fields(), resume(&format!("{name}.pdf"))]);
        let answer = site.send(MULTIPART, "*/*", body).await?;
        assert_eq!(answer.status(), StatusCode::OK, "{name}");
    }
    Ok(())
}
