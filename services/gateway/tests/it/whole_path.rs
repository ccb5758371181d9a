//! From a visitor's form to the inbox, on real parts.

use std::time::Duration;

use anyhow::Context;
use futures_util::future::{join_all, try_join_all};
use nix::sys::signal::Signal;
use reqwest::{Client, Response, StatusCode, header, multipart};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use testkit::{Ports, Stack, TcpProxy, eventually, free_ports, measure::pdf};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::{collector::Collector, log_lines, stopping::gateway};

const MAIL: Duration = Duration::from_secs(45);
/// Nothing listens on port 9, "discard" (RFC 863).
const NOBODY: &str = "127.0.0.1:9";
const SALES: &str = "sales@oculant.example";
const RECRUITERS: &str = "recruiters@oculant.example";

struct Site {
    stack: Stack,
    http: Client,
}

async fn site() -> anyhow::Result<Site> {
    site_with(&[]).await
}

async fn site_with(more: &[(&str, &str)]) -> anyhow::Result<Site> {
    let settings = [&[("RATE_BURST", "100")], more].concat();
    Ok(Site {
        stack: Stack::start(Ports::free()?, &settings).await?,
        http: Client::new(),
    })
}

impl Site {
    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Response> {
        let url = format!("{}{path}", self.stack.site());
        Ok(self.http.post(url).json(body).send().await?)
    }

    async fn apply(&self, file: Vec<u8>) -> anyhow::Result<Response> {
        let url = format!("{}/api/career-application", self.stack.site());
        // The file comes before the fields: parts may come in any order.
        let form = multipart::Form::new()
            .part("resume", multipart::Part::bytes(file).file_name("Résumé Zoë.pdf"))
            .text("name", "Zoë Müller")
            .text("email", "zoe@example.org")
            .text("phone", "+91 44 0000 0000")
            .text("position", "Backend Intern")
            .text("experience", "2 years")
            .text("coverLetter", "First line.\nSecond <b>line</b>.");
        Ok(self.http.post(url).multipart(form).send().await?)
    }

    async fn readyz(&self) -> anyhow::Result<StatusCode> {
        let url = format!("{}/readyz", self.stack.health());
        Ok(self.http.get(url).send().await?.status())
    }

    async fn readyz_becomes(&self, status: StatusCode) -> anyhow::Result<()> {
        eventually(&format!("/readyz says {status}"), MAIL, async || {
            (self.readyz().await.ok()? == status).then_some(())
        })
        .await
    }

    async fn ensure_nothing_is_left(&self) -> anyhow::Result<()> {
        assert!(self.stack.nats.events().await?.is_empty());
        eventually("the bucket is empty", MAIL, async || {
            self.stack.s3.objects().ok()?.is_empty().then_some(())
        })
        .await
    }
}

fn message() -> Value {
    json!({ "name": "Zoë Müller", "email": "zoe@example.org", "message": "Two cameras,\none question." })
}

fn text(mail: &Value) -> &str {
    mail["text"].as_str().unwrap_or_default()
}

fn link(mail: &Value, with: &str) -> anyhow::Result<String> {
    let mut words = text(mail).split_whitespace();
    let found = words.find(|word| word.starts_with("http") && word.contains(with));
    found
        .map(str::to_owned)
        .with_context(|| format!("no link with {with} in:\n{}", text(mail)))
}

fn token(link: &str) -> anyhow::Result<String> {
    let url = reqwest::Url::parse(link)?;
    let token = url.query_pairs().find(|(name, _)| name == "token");
    token.map(|(_, value)| value.into_owned()).context("no token")
}

#[tokio::test]
async fn a_key_that_stands_for_another_message_is_refused_with_a_sentence() -> anyhow::Result<()> {
    let site = site().await?;
    let send = async |path: &str, body: Value| {
        let request = site.http.post(format!("{}{path}", site.stack.site()));
        let key = "68cbf9c7-f08b-504e-92aa-bdbbd9999451";
        request.header("idempotency-key", key).json(&body).send().await
    };
    let (first, mut second) = (message(), message());
    second["message"] = "One camera.".into();
    assert_eq!(
        send("/api/contact", first.clone()).await?.status(),
        StatusCode::OK
    );
    assert_eq!(send("/api/contact", first).await?.status(), StatusCode::OK);
    let refused = send("/api/contact", second.clone()).await?;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let said: Value = refused.json().await?;
    let sentence = said["message"].as_str().unwrap_or_default();
    assert!(sentence.contains("send it again"), "{said}");

    second["email"] = "asha@example.com".into();
    assert_eq!(send("/api/contact", second).await?.status(), StatusCode::OK);
    for email in ["zoe@example.org", "asha@example.com"] {
        let sign_up = json!({ "email": email });
        assert_eq!(send("/api/newsletter", sign_up).await?.status(), StatusCode::OK);
    }
    assert_eq!(site.stack.nats.events().await?.len(), 4);
    Ok(())
}

#[tokio::test]
async fn a_message_reaches_sales_and_is_acknowledged() -> anyhow::Result<()> {
    let site = site().await?;
    let answer = site.post("/api/contact", &message()).await?;
    assert_eq!(answer.status(), StatusCode::OK);
    let request_id = answer.headers()["x-request-id"].to_str()?.to_owned();
    assert_eq!(answer.json::<Value>().await?["success"], json!(true));

    let lead = first_mail_to(&site, SALES).await?;
    assert!(text(&lead).contains("> Two cameras,\n> one question."), "{lead}");
    assert_eq!(
        lead["headers"]["reply-to"]
            .as_str()
            .map(|to| to.contains("zoe@example.org")),
        Some(true)
    );
    assert_eq!(lead["headers"]["x-request-id"], request_id);
    let acknowledged = first_mail_to(&site, "zoe@example.org").await?;
    assert_eq!(acknowledged["headers"]["auto-submitted"], "auto-generated");
    assert_eq!(acknowledged["headers"]["x-request-id"], request_id);
    assert!(text(&acknowledged).contains("Zoë"));
    Ok(())
}

#[tokio::test]
async fn a_sign_up_is_confirmed_welcomed_and_ended_by_the_links_in_its_mails() -> anyhow::Result<()> {
    let site = site().await?;
    let inbox = site.stack.mail_server()?;
    let signed_up = site
        .post("/api/newsletter", &json!({ "email": "zoe@example.org" }))
        .await?;
    assert_eq!(signed_up.status(), StatusCode::OK);

    let confirmation = inbox.mails_to("zoe@example.org", 1, MAIL).await?.remove(0);
    let token_of_mail = token(&link(&confirmation, "newsletter=confirm")?)?;
    let confirmed = site
        .post("/api/newsletter/confirm", &json!({ "token": token_of_mail }))
        .await?;
    assert_eq!(confirmed.status(), StatusCode::OK);

    let mails = inbox.mails_to("zoe@example.org", 2, MAIL).await?;
    let welcome = mails
        .iter()
        .find(|mail| mail["id"] != confirmation["id"])
        .context("no welcome")?;
    let source = inbox.source(welcome)?;
    assert!(
        source.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"),
        "{source}"
    );
    let token = token(&link(welcome, "newsletter=unsubscribe")?)?;
    let one_click = format!("{}/api/newsletter/unsubscribe?token={token}", site.stack.site());
    // A scanner that opens every link changes nothing. A person sees a page that asks.
    let opened = site.http.get(&one_click).send().await?;
    assert_eq!(
        opened.url().as_str(),
        format!("{}/?newsletter=unsubscribe&token={token}", site.stack.site())
    );
    let ended = site
        .http
        .post(&one_click)
        .header(header::ACCEPT, "text/html,*/*;q=0.8")
        .form(&[("List-Unsubscribe", "One-Click")])
        .send()
        .await?;
    assert_eq!(ended.status(), StatusCode::OK);
    // "MUST NOT return an HTTP redirect" (RFC 8058, 3.1), even if the mail client is a browser.
    assert_eq!(ended.url().as_str(), one_click);
    inbox.mails_to("zoe@example.org", 3, MAIL).await?;
    let types: Vec<String> = site
        .stack
        .nats
        .events()
        .await?
        .iter()
        .filter_map(|event| event["type"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(
        types.last().map(String::as_str),
        Some("site.newsletter.unsubscribed.v1")
    );
    Ok(())
}

async fn first_mail_to(site: &Site, address: &str) -> anyhow::Result<Value> {
    let mails = site.stack.mail_server()?.mails_to(address, 1, MAIL).await?;
    mails.into_iter().next().context("no mail")
}

#[tokio::test]
async fn a_resume_of_five_megabytes_reaches_the_recruiters_byte_for_byte() -> anyhow::Result<()> {
    let site = site().await?;
    let file = pdf(5_000_000);
    let digest = base16ct::lower::encode_string(&Sha256::digest(&file));
    let answer = site.apply(file.clone()).await?;
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await?);

    let application = first_mail_to(&site, RECRUITERS).await?;
    assert!(
        application["subject"]
            .as_str()
            .is_some_and(|subject| subject.contains("Backend Intern"))
    );
    for detail in [
        "Zoë Müller",
        "zoe@example.org",
        "+91 44 0000 0000",
        "2 years",
        "Résumé Zoë.pdf",
        "First line.",
        &digest,
    ] {
        assert!(
            text(&application).contains(detail),
            "no {detail} in:\n{}",
            text(&application)
        );
    }
    assert!(
        application["html"]
            .as_str()
            .is_some_and(|html| html.contains("&lt;b&gt;line")),
        "not escaped"
    );
    let download = site.http.get(link(&application, "resumes/")?).send().await?;
    let disposition = download.headers()[header::CONTENT_DISPOSITION].to_str()?;
    assert!(disposition.starts_with("attachment"), "{disposition}");
    assert!(download.bytes().await? == file, "other bytes came back");

    let acknowledged = first_mail_to(&site, "zoe@example.org").await?;
    assert!(
        text(&acknowledged).contains(&digest) && text(&acknowledged).contains("5"),
        "{acknowledged}"
    );
    Ok(())
}

#[tokio::test]
async fn recruiters_are_told_what_a_resume_can_do_by_itself() -> anyhow::Result<()> {
    let site = site().await?;
    let script = b"%PDF-1.7\n1 0 obj\n<< /S /JavaScript /JS (app.alert(1)) >>\nendobj\nstartxref\n0\n%%EOF\n";
    let answer = site.apply(script.to_vec()).await?;
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await?);
    let application = first_mail_to(&site, RECRUITERS).await?;
    let warning = "The file contains JavaScript: open with care.";
    for body in ["text", "html"] {
        assert!(
            application[body]
                .as_str()
                .is_some_and(|body| body.contains(warning)),
            "{application}"
        );
    }
    Ok(())
}

/// Answers like clamd, and finds a virus in files with these words.
async fn scan_for(virus: &'static str, clamd: TcpListener) -> anyhow::Result<()> {
    loop {
        let (mut line, _) = clamd.accept().await?;
        let mut stream = Vec::new();
        // The last chunk is empty.
        while !stream.ends_with(&[0; 4]) && line.read_buf(&mut stream).await? > 0 {}
        let found = stream.windows(virus.len()).any(|words| words == virus.as_bytes());
        let verdict: &[u8] = if found {
            b"stream: Test.Virus FOUND\0"
        } else {
            b"stream: OK\0"
        };
        line.write_all(verdict).await?;
    }
}

async fn site_scanned_by(clamd: &str) -> anyhow::Result<(Site, Collector)> {
    let (collector, address) = Collector::start().await?;
    let settings = [
        ("CLAMD", clamd),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &address),
        ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
    ];
    Ok((site_with(&settings).await?, collector))
}

async fn counted(collector: &Collector, outcome: &str) -> anyhow::Result<()> {
    eventually(&format!("one scan is {outcome}"), MAIL, async || {
        (collector.count_of("site.resume.scans", &[("outcome", outcome)]) == Some(1)).then_some(())
    })
    .await
}

#[tokio::test]
async fn a_resume_with_a_virus_is_refused_at_its_field_and_a_clean_one_is_called_so() -> anyhow::Result<()> {
    const VIRUS: &str = "The test calls this a virus.";
    let clamd = TcpListener::bind("127.0.0.1:0").await?;
    let scanner = clamd.local_addr()?.to_string();
    tokio::spawn(scan_for(VIRUS, clamd));
    let (site, collector) = site_scanned_by(&scanner).await?;

    let end = b"\nstartxref\n0\n%%EOF\n".to_vec();
    let infected = [pdf(1_000_000), VIRUS.into(), end].concat();
    let refused = site.apply(infected).await?;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let body: Value = refused.json().await?;
    assert_eq!(body["success"], json!(false));
    assert_eq!(
        body["fields"],
        json!({ "resume": "A virus was found in this file. Please choose another one." })
    );
    site.ensure_nothing_is_left().await?;
    counted(&collector, "infected").await?;
    let log = site.stack.logs.join("careers.log");
    let told = log_lines::found(&log, 1, |line| line.to_string().contains("Test.Virus")).await?;
    assert_eq!(told[0]["level"], "WARN");
    let log = std::fs::read_to_string(log)?;
    for personal in ["Zoë", "zoe@", "Résumé"] {
        assert!(!log.contains(personal), "{personal} in:\n{log}");
    }

    assert_eq!(site.apply(pdf(1_000_000)).await?.status(), StatusCode::OK);
    counted(&collector, "clean").await?;
    let application = first_mail_to(&site, RECRUITERS).await?;
    assert!(text(&application).contains("no virus was found"), "{application}");
    Ok(())
}

#[tokio::test]
async fn a_scanner_that_is_away_keeps_nobody_from_applying_and_recruiters_are_told() -> anyhow::Result<()> {
    // The site starts, so the careers service is ready without a scanner.
    let (site, collector) = site_scanned_by(NOBODY).await?;
    assert_eq!(site.apply(pdf(1_000_000)).await?.status(), StatusCode::OK);
    counted(&collector, "not_scanned").await?;
    let application = first_mail_to(&site, RECRUITERS).await?;
    assert!(text(&application).contains("not scanned"), "{application}");
    Ok(())
}

#[tokio::test]
async fn invalid_input_is_named_field_by_field_and_a_robot_changes_nothing() -> anyhow::Result<()> {
    let site = site().await?;
    let wrong = site
        .post("/api/contact", &json!({ "email": "zoe@", "message": "Hello" }))
        .await?;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let body: Value = wrong.json().await?;
    assert_eq!(body["success"], json!(false));
    assert!(
        body["message"].is_string()
            && body["fields"]["name"].is_string()
            && body["fields"]["email"].is_string()
    );

    let program = site.apply(b"MZ this is a program".to_vec()).await?;
    assert_eq!(program.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(program.json::<Value>().await?["fields"]["resume"].is_string());
    let large = site.apply(pdf(12_000_000)).await?;
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert!(
        large.json::<Value>().await?["error"]
            .as_str()
            .is_some_and(|error| error.contains("10 MB"))
    );

    let mut robot = message();
    robot["website"] = json!("https://spam.example");
    assert_eq!(site.post("/api/contact", &robot).await?.status(), StatusCode::OK);
    site.ensure_nothing_is_left().await
}

#[tokio::test]
async fn the_same_key_has_one_effect_and_the_same_answer() -> anyhow::Result<()> {
    let site = site().await?;
    let send = || {
        let request = site.http.post(format!("{}/api/contact", site.stack.site()));
        request
            .header("idempotency-key", "68cbf9c7-f08b-404e-92aa-bdbbd9999451")
            .json(&message())
            .send()
    };
    let (first, second) = (send().await?.text().await?, send().await?.text().await?);
    assert_eq!(first, second);
    assert_eq!(site.stack.nats.events().await?.len(), 1);
    Ok(())
}

/// A restarting service refuses connections for a moment. Here a proxy does, because start times vary.
#[tokio::test]
async fn a_service_that_refuses_connections_for_a_second_costs_no_form() -> anyhow::Result<()> {
    let site = site().await?;
    let [contact, newsletter] = ["contact", "newsletter"].map(|name| site.stack.port_of(name));
    // Reserved, because another test may take a free port.
    let [for_contact, for_newsletter] = free_ports()?;
    let forward = |port: u16, to| TcpProxy::start_at(([127, 0, 0, 1], port).into(), None, to);
    let proxies = [
        forward(for_contact, contact).await?,
        forward(for_newsletter, newsletter).await?,
    ];
    let services = [("CONTACT_URL", for_contact), ("NEWSLETTER_URL", for_newsletter)];
    let (_gateway, gateway_port) = gateway(&services, &site.stack.logs).await?;
    let forms = [
        (contact, "/api/contact", message()),
        (
            newsletter,
            "/api/newsletter",
            json!({ "email": "zoe@example.org" }),
        ),
    ];
    for (proxy, (service, path, form)) in proxies.into_iter().zip(forms) {
        let port = proxy.port;
        drop(proxy);
        eventually("the port refuses connections", MAIL, async || {
            TcpStream::connect(("127.0.0.1", port))
                .await
                .is_err()
                .then_some(())
        })
        .await?;
        let request = site.http.post(format!("http://127.0.0.1:{gateway_port}{path}"));
        let sending = tokio::spawn(request.json(&form).send());
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(
            !sending.is_finished(),
            "{path} is answered before its service is back"
        );
        let _proxy = forward(port, service).await?;
        assert_eq!(sending.await??.status(), StatusCode::OK, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn visitors_who_leave_while_a_service_stands_still_cost_nobody_else_their_form() -> anyhow::Result<()> {
    const WHO_LEAVE: usize = 200;
    const WHO_STAY: usize = 20;
    let site = site_with(&[("RATE_BURST", "1000")]).await?;
    let contact = site.stack.service("contact")?;
    contact.signal(Signal::SIGSTOP)?;
    let form = message();
    let send = || site.post("/api/contact", &form);
    let leaving = (0..WHO_LEAVE).map(|_| timeout(Duration::from_secs(1), send()));
    let staying = (0..WHO_STAY).map(|_| send());
    let thawing = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        contact.signal(Signal::SIGCONT)
    };
    let (_left, answers, thawed) = tokio::join!(join_all(leaving), try_join_all(staying), thawing);
    thawed?;
    for answer in answers? {
        assert_eq!(answer.status(), StatusCode::OK);
    }
    Ok(())
}

#[tokio::test]
async fn while_nats_is_away_forms_are_refused_and_afterwards_taken_again() -> anyhow::Result<()> {
    let mut site = site().await?;
    site.stack.nats.stop().await?;
    let refused = site.post("/api/contact", &message()).await?;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key(header::RETRY_AFTER));
    assert!(refused.json::<Value>().await?["message"].is_string());
    site.readyz_becomes(StatusCode::SERVICE_UNAVAILABLE).await?;

    site.stack.nats.resume_from_disk().await?;
    site.readyz_becomes(StatusCode::OK).await?;
    assert!(
        site.stack.nats.events().await?.is_empty(),
        "what was refused was stored"
    );
    assert_eq!(
        site.post("/api/contact", &message()).await?.status(),
        StatusCode::OK
    );
    site.stack.mail_server()?.mails_to(SALES, 1, MAIL).await?;
    Ok(())
}

#[tokio::test]
async fn while_the_bucket_is_away_applications_are_refused_and_leave_nothing() -> anyhow::Result<()> {
    let mut site = site().await?;
    site.stack.s3.stop().await?;
    let refused = site.apply(pdf(1_000_000)).await?;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key(header::RETRY_AFTER));
    site.stack.s3.resume_from_disk().await?;
    site.ensure_nothing_is_left().await?;
    assert_eq!(site.apply(pdf(1_000_000)).await?.status(), StatusCode::OK);
    Ok(())
}

#[tokio::test]
async fn a_line_that_is_cut_in_the_middle_of_an_upload_leaves_nothing() -> anyhow::Result<()> {
    let site = site().await?;
    let mut line = TcpStream::connect(("127.0.0.1", site.stack.ports.site)).await?;
    let head = "POST /api/career-application HTTP/1.1\r\nHost: site\r\nContent-Length: 5000000\r\n\
                Content-Type: multipart/form-data; boundary=x\r\n\r\n\
                --x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"cv.pdf\"\r\n\r\n";
    line.write_all(head.as_bytes()).await?;
    line.write_all(&pdf(4_500_000)).await?;
    line.flush().await?;
    drop(line);
    site.ensure_nothing_is_left().await?;
    assert_eq!(site.apply(pdf(1_000_000)).await?.status(), StatusCode::OK);
    assert_eq!(site.stack.nats.events().await?.len(), 1);
    assert_eq!(site.stack.s3.objects()?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn what_is_in_flight_at_a_stop_is_finished() -> anyhow::Result<()> {
    let mut site = site().await?;
    let url = format!("{}/api/contact", site.stack.site());
    let sending: Vec<_> = (0..50)
        .map(|number| {
            let mut message = message();
            message["message"] = json!(format!("Message {number}"));
            tokio::spawn(site.http.post(&url).json(&message).send())
        })
        .collect();
    eventually("the first is answered", MAIL, async || {
        sending
            .iter()
            .any(tokio::task::JoinHandle::is_finished)
            .then_some(())
    })
    .await?;
    let gateway = site.stack.take_service("gateway")?;
    gateway.signal(Signal::SIGTERM)?;
    assert!(gateway.stop().await?.success());
    let mut accepted = 0;
    for answer in sending {
        // The gateway may refuse a connection. One that it accepted is answered.
        if let Ok(answer) = answer.await? {
            assert_eq!(answer.status(), StatusCode::OK);
            accepted += 1;
        }
    }
    assert!(accepted > 0);
    assert_eq!(site.stack.nats.events().await?.len(), accepted);
    Ok(())
}
