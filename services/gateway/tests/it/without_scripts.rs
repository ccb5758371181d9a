//! Browsers without scripts send forms and get pages.

use std::{fs, future::pending, time::Duration};

use axum::Router;
use futures_util::future::try_join_all;
use reqwest::{Client, RequestBuilder, Response, StatusCode, header, multipart, redirect::Policy};
use serde_json::json;
use tempfile::TempDir;
use testkit::{Ports, RECRUITERS_TO, SALES_TO, Stack, measure::pdf};
use tokio::{net::TcpListener, time::timeout};

use crate::without_services::Gateway;

/// Chromium's `Accept` header for a page.
const PAGE: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const ROUTES: &str = r#"{
    "redirects": [], "notFound": [], "variants": [], "scriptHashes": ["sha256-abc="], "styleHashes": [],
    "trustedTypePolicies": [], "frameSources": []
}"#;
const MAIL: Duration = Duration::from_secs(45);
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

/// Returns the answer's page, and checks the headers that every page with an error has.
async fn page(answer: Response) -> anyhow::Result<String> {
    let headers = answer.headers();
    assert_eq!(headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
    assert_eq!(headers[header::CACHE_CONTROL], "no-store");
    assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert!(headers.contains_key("x-request-id"));
    Ok(answer.text().await?)
}

#[tokio::test]
async fn a_rate_limited_visitor_without_scripts_keeps_the_input() -> anyhow::Result<()> {
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
async fn a_challenged_visitor_without_scripts_keeps_the_input() -> anyhow::Result<()> {
    let folder = folder()?;
    let gateway = gateway_of(&folder, &["--challenge", "always"]).await?;
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
async fn unreadable_forms_are_answered_with_a_page() -> anyhow::Result<()> {
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
    // The page keeps the message, so that the visitor can shorten it.
    assert!(large.contains(&"x".repeat(300 * 1024)), "the message is gone");

    let key = send(&gateway, "Hello").header("idempotency-key", "again");
    let key = key.send().await?;
    assert_eq!(key.status(), StatusCode::BAD_REQUEST);
    assert!(page(key).await?.contains("The Idempotency-Key must be a UUID."));
    Ok(())
}

#[tokio::test]
async fn robots_are_thanked_and_reloads_open_the_form() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let fields = [("name", "Ada"), ("website", "https://spam.example")];
    let thanked = by_a_browser(gateway.post("/api/contact").form(&fields));
    let reloaded = by_a_browser(gateway.get("/api/contact"));
    for (request, location) in [(thanked, "/contact/sent"), (reloaded, "/contact")] {
        let answer = request.send().await?;
        assert_eq!(answer.status(), StatusCode::SEE_OTHER);
        assert_eq!(answer.headers()[header::LOCATION], location);
    }
    Ok(())
}

#[tokio::test]
async fn cross_site_forms_are_refused_without_counting() -> anyhow::Result<()> {
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
    // Mailed links accept any `Sec-Fetch-Site`, because their secret token protects them.
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
async fn without_a_page_in_time_the_sentence_can_be_read() -> anyhow::Result<()> {
    const IN_TIME: Duration = Duration::from_secs(8);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let silent = format!("http://{}", listener.local_addr()?);
    let server: Router = Router::new().fallback(pending::<()>);
    tokio::spawn(axum::serve(listener, server).into_future());
    let without_page = async |flags: &[&str]| {
        let gateway = Gateway::start(flags).await?;
        let answer = timeout(IN_TIME, send(&gateway, "<b>Hello").send()).await??;
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
    let unavailable = ["--pages-url", "http://127.0.0.1:9"];
    let silent = ["--pages-url", &silent];
    let answers = [&[][..], &unavailable, &silent].map(without_page);
    try_join_all(answers).await.map(drop)
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
async fn a_newsletter_question_is_answered_by_a_form() -> anyhow::Result<()> {
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
        // A reload of the answer's URL redirects to the question.
        let asked = site.get(&to).send().await?;
        assert_eq!(
            asked.headers()[header::LOCATION],
            format!("/?newsletter={action}&token=forged")
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_form_without_scripts_is_deduplicated_and_keeps_its_attribution() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let fields = [
        ("name", "Zoë Müller"),
        ("email", "zoe@example.org"),
        ("message", "Two cameras,\r\none question."),
        ("website", ""),
    ];
    let page = format!("{}/contact?utm_source=newspaper&gclid=1", site.stack.site());
    let (first, second) = (pdf(1_000_000), pdf(1_000_001));
    for resume in [&first, &first, &second] {
        let message = site.post("/api/contact").header(header::REFERER, &page);
        let sign_up = site.post("/api/newsletter");
        let application = application("zoe@example.org", resume.clone());
        for (form, thanks) in [
            (message.form(&fields), "Message Sent Successfully!"),
            (
                sign_up.form(&[("email", "zoe@example.org"), ("website", "")]),
                "Thank you for subscribing!",
            ),
            (
                site.post("/api/career-application").multipart(application),
                "Application Submitted!",
            ),
        ] {
            let page = site.led_to(form.send().await?).await?;
            assert!(page.contains(thanks), "{thanks}");
        }
    }
    // Events of a message, a sign-up, and two applications.
    assert_eq!(site.stack.nats.events().await?.len(), 4);
    let inbox = site.stack.mail_server()?;
    inbox.mails_to(RECRUITERS_TO, 2, MAIL).await?;
    let lead = inbox.mails_to(SALES_TO, 1, MAIL).await?.remove(0);
    let text = lead["text"].as_str().unwrap_or_default();
    for told in ["> Two cameras,\n> one question.", "/contact\n", "newspaper"] {
        assert!(text.contains(told), "no {told:?} in:\n{text}");
    }
    assert!(!text.contains("gclid"), "{text}");
    Ok(())
}

#[tokio::test]
async fn an_invalid_form_keeps_its_input_and_shows_its_errors() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let nasty = "\"><script>alert(1)</script>\r\n🎥 &quot;";
    let fields = [("name", ""), ("email", "\"zoe@"), ("message", nasty)];
    let answer = site.post("/api/contact").form(&fields).send().await?;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let policy = answer.headers()[header::CONTENT_SECURITY_POLICY].to_str()?;
    assert!(policy.contains("form-action 'self'"), "{policy}");
    let wrong = page(answer).await?;
    assert!(wrong.contains("Please check the marked fields."));
    for name in ["name", "email"] {
        let field = field(&wrong, name);
        let is_invalid = field.contains("aria-invalid=\"true\" aria-describedby=\"");
        assert!(is_invalid, "{field}");
    }
    assert!(field(&wrong, "email").contains("value=\"&quot;zoe@\""));
    assert!(field(&wrong, "message").contains("aria-invalid=\"false\""));
    let kept = ">&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\r\n🎥 &amp;quot;</textarea>";
    assert!(wrong.contains(kept), "{wrong}");
    assert!(!wrong.contains("start()"), "scripts would take it back");

    let sign_up = site.post("/api/newsletter").form(&[("email", "zoe@")]);
    let sign_up = sign_up.send().await?;
    assert_eq!(sign_up.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let sign_up = page(sign_up).await?;
    assert!(field(&sign_up, "email").contains("value=\"zoe@\""));
    assert!(field(&sign_up, "email").contains("aria-invalid=\"true\""));
    Ok(())
}

#[tokio::test]
async fn a_refused_application_is_shown_again_without_its_file() -> anyhow::Result<()> {
    let site = Site::start().await?;
    for (email, resume, status, sentence) in [
        (
            "zoe@",
            b"MZ".into(),
            StatusCode::UNPROCESSABLE_ENTITY,
            "This file is called a PDF, but it is none, or is damaged.",
        ),
        (
            "zoe@example.org",
            pdf(12_000_000),
            StatusCode::PAYLOAD_TOO_LARGE,
            "Your résumé is larger than 10 MB.",
        ),
    ] {
        let form = site.post("/api/career-application");
        let answer = form.multipart(application(email, resume)).send().await?;
        assert_eq!(answer.status(), status);
        let page = page(answer).await?;
        assert!(page.contains(sentence), "no {sentence:?}");
        assert!(field(&page, "name").contains("value=\"Zoë &quot;Z&quot; Müller\""));
        assert!(field(&page, "position").contains("value=\"Backend Intern\""));
        assert!(page.contains(">\n\r\nFirst line.\r\n&lt;b&gt;Second&lt;/b&gt; &amp;lt; 🎥</textarea>"));
        assert!(!field(&page, "resume").contains("value=") && !page.contains("cv.pdf"));
        let is_field = status == StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(field(&page, "resume").contains("aria-invalid=\"true\""), is_field);
    }
    assert!(site.stack.nats.events().await?.is_empty());
    Ok(())
}
