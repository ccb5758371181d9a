//! Browsers without scripts send forms and get pages.

use std::{convert::Infallible, fs, future::pending, time::Duration};

use anyhow::Context;
use axum::{Router, body::Body};
use futures_util::{StreamExt, future::try_join_all, stream};
use reqwest::{Client, RequestBuilder, Response, StatusCode, header, multipart, redirect::Policy};
use serde_json::json;
use tempfile::TempDir;
use testkit::{Ports, Stack, measure::pdf};
use tokio::{net::TcpListener, time::timeout};

use crate::without_services::Gateway;

/// Chromium's `Accept` header for a page.
const PAGE: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const ROUTES: &str = r#"{
    "redirects": [], "notFound": [], "variants": [], "scriptHashes": ["sha256-abc="], "styleHashes": [],
    "trustedTypePolicies": [], "frameSources": []
}"#;
const MAIL: Duration = Duration::from_secs(45);
const SALES: &str = "sales@oculant.example";
const RECRUITERS: &str = "recruiters@oculant.example";
const REFUSED: &str = r#"<!doctype html><title>Not sent yet</title><p role="alert">{{refusal}}</p>
<form method="post"><input name="name" value="{{text:name}}" aria-invalid="{{invalid:name}}"><p>{{error:name}}</p>
<input name="email" value="{{text:email}}"><textarea name="message">{{text:message}}</textarea><input name="website"></form>"#;

fn folder() -> anyhow::Result<TempDir> {
    let folder = TempDir::new()?;
    fs::write(folder.path().join("_routes.json"), ROUTES)?;
    fs::create_dir(folder.path().join("contact"))?;
    fs::write(folder.path().join("contact/not-sent.html"), REFUSED)?;
    Ok(folder)
}

async fn gateway_of(folder: &TempDir, flags: &[&str]) -> anyhow::Result<Gateway> {
    let site = folder.path().to_string_lossy();
    Gateway::start(&[&["--site-dir", &site], flags].concat()).await
}

fn by_a_browser(request: RequestBuilder) -> RequestBuilder {
    request.header(header::ACCEPT, PAGE)
}

fn send(gateway: &Gateway, message: &str) -> RequestBuilder {
    let fields = [
        ("name", "Zoë"),
        ("email", "zoe@example.org"),
        ("message", message),
        ("website", ""),
    ];
    by_a_browser(gateway.post("/api/contact").form(&fields))
}

/// Checks the headers that all refusals have.
async fn page(answer: Response) -> anyhow::Result<String> {
    let headers = answer.headers();
    assert_eq!(headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(headers[header::CACHE_CONTROL], "no-store");
    assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert!(headers.contains_key("x-request-id"));
    Ok(answer.text().await?)
}

#[tokio::test]
async fn whoever_must_wait_reads_how_it_is_and_keeps_what_was_entered() -> anyhow::Result<()> {
    let folder = folder()?;
    let gateway = gateway_of(&folder, &["--rate-burst", "1"]).await?;
    let away = send(&gateway, "Hello").send().await?;
    assert_eq!(away.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(away.headers()[header::RETRY_AFTER], "5");
    let policy = away.headers()[header::CONTENT_SECURITY_POLICY].to_str()?;
    assert!(policy.contains("script-src 'self' 'sha256-abc=';"), "{policy}");
    let away = page(away).await?;
    assert!(
        away.contains("<p role=\"alert\">We cannot take this right now."),
        "{away}"
    );
    assert!(
        away.contains("<textarea name=\"message\">Hello</textarea>"),
        "{away}"
    );
    assert!(away.contains("aria-invalid=\"false\"><p></p>"), "{away}");

    let message = "\"><script>alert(1)</script>\r\n🎥 &amp; “more”";
    let early = send(&gateway, message).send().await?;
    assert_eq!(early.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = early.headers()[header::RETRY_AFTER].to_str()?.parse()?;
    assert!((1..=6).contains(&wait), "{wait}");
    let early = page(early).await?;
    assert!(
        early.contains("You have sent this form several times."),
        "{early}"
    );
    assert!(early.contains("<input name=\"name\" value=\"Zoë\" "), "{early}");
    let kept = ">&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\r\n🎥 &amp;amp; “more”</textarea>";
    assert!(early.contains(kept), "{early}");
    Ok(())
}

#[tokio::test]
async fn whoever_cannot_solve_a_challenge_keeps_what_was_entered() -> anyhow::Result<()> {
    let folder = folder()?;
    let gateway = gateway_of(&folder, &["--challenge", "flood", "--flood-per-minute", "1"]).await?;
    let before_the_flood = send(&gateway, "Hello").send().await?;
    assert_eq!(before_the_flood.status(), StatusCode::SERVICE_UNAVAILABLE);

    let asked = send(&gateway, "Hello").send().await?;
    assert_eq!(asked.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(asked.headers()[header::RETRY_AFTER], "60");
    let asked = page(asked).await?;
    assert!(
        asked.contains("we could not check that you are not one."),
        "{asked}"
    );
    assert!(asked.contains(">Hello</textarea>"), "{asked}");
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_read_is_a_page_too() -> anyhow::Result<()> {
    let folder = folder()?;
    let gateway = gateway_of(&folder, &["--rate-burst", "100"]).await?;
    let send_as = |content_type: &'static str, body: &'static str| {
        let request = gateway.post("/api/contact");
        by_a_browser(request.header(header::CONTENT_TYPE, content_type).body(body)).send()
    };
    for (content_type, body, status) in [
        ("text/plain", "name=Ada", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("application/json", "{", StatusCode::BAD_REQUEST),
        (
            "application/x-www-form-urlencoded",
            "attribution=none&name=Ada",
            StatusCode::BAD_REQUEST,
        ),
    ] {
        let answer = send_as(content_type, body).await?;
        assert_eq!(answer.status(), status, "{content_type}");
        let page = page(answer).await?;
        assert!(page.contains("<textarea name=\"message\"></textarea>"), "{page}");
    }

    let large = send(&gateway, &"x".repeat(300 * 1024)).send().await?;
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let large = page(large).await?;
    assert!(large.contains("Your message is too large."), "too short");
    // To shorten the message, the visitor needs it.
    assert!(large.contains(&"x".repeat(300 * 1024)), "the message is gone");

    let key = send(&gateway, "Hello").header("idempotency-key", "again");
    let key = key.send().await?;
    assert_eq!(key.status(), StatusCode::BAD_REQUEST);
    assert!(page(key).await?.contains("The Idempotency-Key must be a UUID."));
    Ok(())
}

#[tokio::test]
async fn a_robot_without_scripts_is_thanked() -> anyhow::Result<()> {
    let folder = folder()?;
    let gateway = gateway_of(&folder, &[]).await?;
    let fields = [("name", "Ada"), ("website", "https://spam.example")];
    let answer = by_a_browser(gateway.post("/api/contact").form(&fields));
    let answer = answer.send().await?;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()[header::LOCATION], "/contact/sent");
    assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-store");
    Ok(())
}

#[tokio::test]
async fn the_address_of_an_answer_leads_back_to_the_form() -> anyhow::Result<()> {
    let folder = folder()?;
    let gateway = gateway_of(&folder, &[]).await?;
    let answer = by_a_browser(gateway.get("/api/contact")).send().await?;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()[header::LOCATION], "/contact");
    Ok(())
}

#[tokio::test]
async fn what_another_site_sends_is_refused_and_held_against_nobody() -> anyhow::Result<()> {
    let folder = folder()?;
    let flags = ["--rate-burst", "1", "--cors-origins", "https://friend.example"];
    let gateway = gateway_of(&folder, &flags).await?;
    let cross_site = |request: RequestBuilder| request.header("sec-fetch-site", "cross-site");
    for _ in 0..3 {
        let forged = cross_site(send(&gateway, "Forged")).send().await?;
        assert_eq!(forged.status(), StatusCode::FORBIDDEN);
        let forged = page(forged).await?;
        assert!(
            forged.contains("This form was sent from another site."),
            "{forged}"
        );
        assert!(!forged.contains("Forged"), "{forged}");
    }
    for form in ["/api/contact", "/api/newsletter", "/api/career-application"] {
        let forged = cross_site(gateway.post(form)).json(&json!({})).send().await?;
        assert_eq!(forged.status(), StatusCode::FORBIDDEN, "{form}");
        assert_eq!(forged.headers()[header::CONTENT_TYPE], "application/json");
    }
    let friend = cross_site(gateway.post("/api/contact")).header(header::ORIGIN, "https://friend.example");
    // The token in a mail's link is secret, so any `Sec-Fetch-Site` is accepted.
    let mailed = |path| cross_site(gateway.post(path));
    let taken = [
        friend.json(&json!({})),
        mailed("/api/newsletter/confirm").json(&json!({})),
        mailed("/api/newsletter/unsubscribe").json(&json!({})),
        mailed("/api/newsletter/unsubscribe?token=x").form(&[("List-Unsubscribe", "One-Click")]),
    ];
    for answer in try_join_all(taken.map(RequestBuilder::send)).await? {
        assert_eq!(
            answer.status(),
            StatusCode::SERVICE_UNAVAILABLE,
            "{}",
            answer.url()
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_page_comes_from_another_server_where_the_gateway_has_none() -> anyhow::Result<()> {
    let folder = folder()?;
    let shell = gateway_of(&folder, &[]).await?;
    let gateway = Gateway::start(&["--pages-url", &shell.url]).await?;
    let (here, there) = tokio::try_join!(send(&shell, "Hello").send(), send(&gateway, "Hello").send())?;
    assert_eq!(there.status(), StatusCode::SERVICE_UNAVAILABLE);
    for name in [header::CONTENT_SECURITY_POLICY, header::RETRY_AFTER] {
        assert_eq!(there.headers()[&name], here.headers()[&name], "{name}");
    }
    assert_eq!(page(there).await?, page(here).await?);
    Ok(())
}

async fn page_server(pages: Router) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(axum::serve(listener, pages).into_future());
    Ok(url)
}

fn page_with(body: impl Fn() -> Body + Clone + Send + Sync + 'static) -> Router {
    let policy = [(header::CONTENT_SECURITY_POLICY, "default-src 'none'")];
    Router::new().fallback(move || async move { (policy, body()) })
}

#[tokio::test]
async fn a_page_server_that_sends_too_much_or_hangs_keeps_nobody_from_an_answer() -> anyhow::Result<()> {
    const LARGEST: usize = 1024 * 1024;
    const IN_TIME: Duration = Duration::from_secs(8);
    let of_size = |bytes: usize| {
        let html = format!("{REFUSED}{}", " ".repeat(bytes - REFUSED.len()));
        page_with(move || Body::from(html.clone()))
    };
    let silent = Router::new().fallback(pending::<()>);
    let unfinished = page_with(|| {
        let begin = stream::iter([Ok::<_, Infallible>(REFUSED)]);
        Body::from_stream(begin.chain(stream::pending()))
    });
    let servers = [
        ("the largest page", of_size(LARGEST), true),
        ("a page too large", of_size(LARGEST + 1), false),
        ("no answer", silent, false),
        ("half a page", unfinished, false),
    ];
    let answered = servers.map(async |(what, server, is_filled)| {
        let url = page_server(server).await?;
        let gateway = Gateway::start(&["--pages-url", &url]).await?;
        let answer = timeout(IN_TIME, send(&gateway, "Hello").send());
        let answer = page(answer.await.context(what)??).await?;
        assert_eq!(answer.contains("Hello</textarea>"), is_filled, "{what}");
        assert!(answer.contains("We cannot take this right now."), "{what}");
        anyhow::Ok(())
    });
    try_join_all(answered).await.map(drop)
}

#[tokio::test]
async fn without_any_page_the_sentence_can_be_read() -> anyhow::Result<()> {
    let without_page = async |flags: &[&str]| {
        let gateway = Gateway::start(flags).await?;
        let answer = send(&gateway, "<b>Hello").send().await?;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        let policy = &answer.headers()[header::CONTENT_SECURITY_POLICY];
        assert_eq!(policy, "default-src 'none'; frame-ancestors 'none'");
        let page = page(answer).await?;
        assert!(page.contains("<p>We cannot take this right now."), "{page}");
        assert!(page.contains("<a href=\"/contact\">"), "{page}");
        let other_way = "You may also write to hello@oculant.example or call +91 44 0000 0000.</p>";
        assert!(page.contains(other_way), "{page}");
        assert!(!page.contains("<b>"), "{page}");
        anyhow::Ok(())
    };
    let away = ["--pages-url", "http://127.0.0.1:9"];
    tokio::try_join!(without_page(&[]), without_page(&away))?;
    Ok(())
}

struct Site {
    stack: Stack,
    http: Client,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        Ok(Self {
            stack: Stack::start(Ports::free()?, &[("RATE_BURST", "100")]).await?,
            http: Client::builder().redirect(Policy::none()).build()?,
        })
    }

    fn post(&self, path: &str) -> RequestBuilder {
        by_a_browser(self.http.post(format!("{}{path}", self.stack.site())))
    }

    fn get(&self, path: &str) -> RequestBuilder {
        by_a_browser(self.http.get(format!("{}{path}", self.stack.site())))
    }

    async fn led_to(&self, answer: Response) -> anyhow::Result<String> {
        assert_eq!(answer.status(), StatusCode::SEE_OTHER);
        let path = answer.headers()[header::LOCATION].to_str()?;
        let page = self.get(path).send().await?;
        assert_eq!(page.status(), StatusCode::OK, "{path}");
        Ok(page.text().await?)
    }
}

fn field<'a>(page: &'a str, name: &str) -> &'a str {
    let at = page.find(&format!(" name=\"{name}\""));
    let end = |at: usize| at + page[at..].find('>').unwrap_or_default();
    at.and_then(|at| Some(&page[page[..at].rfind('<')?..=end(at)]))
        .unwrap_or_default()
}

fn application(email: &'static str, resume: Vec<u8>) -> multipart::Form {
    let resume = multipart::Part::bytes(resume).file_name("cv.pdf");
    multipart::Form::new()
        .text("name", "Zoë \"Z\" Müller")
        .text("email", email)
        .text("phone", "+91 44 0000 0000")
        .text("experience", "2 years")
        .text("position", "Backend Intern")
        .text("coverLetter", "\r\nFirst line.\r\n<b>Second</b> &lt; 🎥")
        .part("resume", resume)
        .text("website", "")
}

#[tokio::test]
async fn a_sign_up_is_led_on_and_told_what_is_wrong() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let sign_up = |email: &'static str| {
        let fields = [("email", email), ("website", "")];
        site.post("/api/newsletter").form(&fields).send()
    };
    for _ in 0..2 {
        let thanks = site.led_to(sign_up("zoe@example.org").await?).await?;
        assert!(thanks.contains("Thank you for subscribing!"));
    }
    let mail = site
        .stack
        .mail_server()?
        .mails_to("zoe@example.org", 1, MAIL)
        .await?;
    assert!(
        mail[0]["text"]
            .as_str()
            .unwrap_or_default()
            .contains("newsletter=confirm")
    );
    assert_eq!(site.stack.nats.events().await?.len(), 1);

    let wrong = sign_up("zoe@").await?;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let wrong = page(wrong).await?;
    assert!(field(&wrong, "email").contains("value=\"zoe@\""));
    assert!(field(&wrong, "email").contains("aria-invalid=\"true\""));
    Ok(())
}

#[tokio::test]
async fn the_question_of_a_mails_link_is_answered_by_a_form() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let answer = |action: &str, token: &str, body: &'static str| {
        site.post(&format!("/?newsletter={action}&token={token}"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body)
            .send()
    };
    let led_on = answer("confirm", "forged", "answer=yes").await?;
    assert_eq!(led_on.status(), StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(
        led_on.headers()[header::LOCATION],
        "/api/newsletter/confirm?newsletter=confirm&token=forged"
    );
    for path in ["/", "/?newsletter=toString", "/?variant=impact", "/about"] {
        let refused = site.post(path).send().await?;
        assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
    for action in ["confirm", "unsubscribe"] {
        let to = format!("/api/newsletter/{action}?newsletter={action}&token=forged");
        let form = |body: &'static str| {
            site.post(&to)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(body)
                .send()
        };
        // A link scanner that posts an empty form changes nothing.
        assert_eq!(form("").await?.status(), StatusCode::BAD_REQUEST, "{action}");
        let forged = form("answer=yes").await?;
        assert!(forged.status().is_client_error(), "{action}");
        let forged = page(forged).await?;
        assert!(forged.contains("Nothing has changed yet"), "{action}");
        // Reloading the answer's address asks again.
        let asked = site.get(&to).send().await?;
        assert_eq!(
            asked.headers()[header::LOCATION],
            format!("/?newsletter={action}&token=forged")
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_application_sent_twice_is_one_and_with_another_resume_another() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let apply = |resume: Vec<u8>| {
        let form = application("zoe@example.org", resume);
        site.post("/api/career-application").multipart(form).send()
    };
    let (first, second) = (pdf(1_000_000), pdf(1_000_001));
    for resume in [first.clone(), first, second] {
        let thanks = site.led_to(apply(resume).await?).await?;
        assert!(thanks.contains("Application Submitted!"));
    }
    assert_eq!(site.stack.nats.events().await?.len(), 2);
    site.stack.mail_server()?.mails_to(RECRUITERS, 2, MAIL).await?;
    Ok(())
}

#[tokio::test]
async fn an_application_that_is_refused_comes_back_without_its_file() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let apply = |email: &'static str, resume: Vec<u8>| {
        let form = application(email, resume);
        site.post("/api/career-application").multipart(form).send()
    };
    for (answer, status, sentence) in [
        (
            apply("zoe@", b"MZ".into()).await?,
            StatusCode::UNPROCESSABLE_ENTITY,
            "This file is called a PDF, but it is none, or is damaged.",
        ),
        (
            apply("zoe@example.org", pdf(12_000_000)).await?,
            StatusCode::PAYLOAD_TOO_LARGE,
            "Your résumé is larger than 10 MB.",
        ),
    ] {
        assert_eq!(answer.status(), status);
        let page = page(answer).await?;
        assert!(page.contains(sentence), "no {sentence:?}");
        assert!(field(&page, "name").contains("value=\"Zoë &quot;Z&quot; Müller\""));
        assert!(field(&page, "position").contains("value=\"Backend Intern\""));
        assert!(page.contains(">\n\r\nFirst line.\r\n&lt;b&gt;Second&lt;/b&gt; &amp;lt; 🎥</textarea>"));
        assert!(!field(&page, "resume").contains("value="));
        assert!(!page.contains("cv.pdf"));
        let is_field = status == StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(field(&page, "resume").contains("aria-invalid=\"true\""), is_field);
    }
    assert!(site.stack.nats.events().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_message_sent_twice_is_one_and_sales_learn_what_led_to_it() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let fields = [
        ("name", "Zoë Müller"),
        ("email", "zoe@example.org"),
        ("message", "Two cameras,\r\none question."),
        ("website", ""),
    ];
    let page = format!("{}/contact?utm_source=newspaper&gclid=1", site.stack.site());
    for _ in 0..2 {
        let sent = site.post("/api/contact").header(header::REFERER, &page);
        let thanks = site.led_to(sent.form(&fields).send().await?).await?;
        assert!(thanks.contains("Message Sent Successfully!"));
        assert!(thanks.contains("We will reply to your provided email."));
    }
    assert_eq!(site.stack.nats.events().await?.len(), 1);
    let lead = site
        .stack
        .mail_server()?
        .mails_to(SALES, 1, MAIL)
        .await?
        .remove(0);
    let text = lead["text"].as_str().unwrap_or_default();
    for told in ["> Two cameras,\n> one question.", "/contact\n", "newspaper"] {
        assert!(text.contains(told), "no {told:?} in:\n{text}");
    }
    assert!(!text.contains("gclid"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_message_that_is_wrong_comes_back_as_it_was_with_what_is_wrong() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let nasty = "\"><script>alert(1)</script>\r\n🎥 &quot;";
    let fields = [("name", ""), ("email", "\"zoe@"), ("message", nasty)];
    let answer = site.post("/api/contact").form(&fields).send().await?;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let policy = answer.headers()[header::CONTENT_SECURITY_POLICY]
        .to_str()?
        .to_owned();
    assert!(policy.contains("form-action 'self'"), "{policy}");
    let wrong = page(answer).await?;
    assert!(wrong.contains("Please check the marked fields."));
    for name in ["name", "email"] {
        let field = field(&wrong, name);
        assert!(
            field.contains("aria-invalid=\"true\" aria-describedby=\""),
            "{field}"
        );
    }
    assert!(field(&wrong, "email").contains("value=\"&quot;zoe@\""));
    assert!(field(&wrong, "message").contains("aria-invalid=\"false\""));
    assert!(
        wrong.contains(">&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\r\n🎥 &amp;quot;</textarea>"),
        "{wrong}"
    );
    assert!(!wrong.contains("start()"), "scripts would take it back");

    site.stack.nats.stop().await?;
    let fields = [
        ("name", "Zoë"),
        ("email", "zoe@example.org"),
        ("message", "Still here"),
    ];
    let away = site.post("/api/contact").form(&fields).send().await?;
    assert_eq!(away.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(away.headers().contains_key(header::RETRY_AFTER));
    let away = page(away).await?;
    assert!(away.contains("We cannot take this right now."));
    assert!(away.contains(">Still here</textarea>"));
    assert!(!away.contains("aria-invalid=\"true\""));
    Ok(())
}
