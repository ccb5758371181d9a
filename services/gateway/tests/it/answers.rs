//! Answers that the gateway gives without calling a service.

use anyhow::Context;
use futures_util::future::try_join_all;
use reqwest::{Body, Method, RequestBuilder, StatusCode, header, multipart};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::without_services::Gateway;

const FORMS: [&str; 3] = ["/api/contact", "/api/newsletter", "/api/career-application"];

async fn refusal(request: RequestBuilder) -> anyhow::Result<(StatusCode, String)> {
    let answer = request.send().await?;
    let status = answer.status();
    assert!(answer.headers().contains_key("x-request-id"));
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/json");
    let word = if answer.url().path() == "/api/contact" {
        "message"
    } else {
        "error"
    };
    let body: Value = answer.json().await?;
    assert_eq!(body["success"], json!(false), "{body}");
    let sentence = body[word].as_str().unwrap_or_default().to_owned();
    assert!(sentence.ends_with('.'), "{body}");
    Ok((status, sentence))
}

#[tokio::test]
async fn unknown_routes_are_refused_in_json() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    assert_eq!(
        refusal(gateway.get("/api/nothing")).await?.0,
        StatusCode::NOT_FOUND
    );
    for unknown in [
        "/api",
        "/api/",
        "/api//contact",
        "/api/contact/",
        "/api/%6eothing",
        "/api/newsletter/mail-reports/zoe@example.org",
    ] {
        for asked in [gateway.get(unknown), gateway.post(unknown).body("zoe")] {
            assert_eq!(refusal(asked).await?.0, StatusCode::NOT_FOUND, "{unknown}");
        }
    }
    for form in FORMS {
        let answer = gateway.get(form).send().await?;
        assert_eq!(answer.headers()[header::ALLOW], "POST");
        assert_eq!(
            refusal(gateway.get(form)).await?.0,
            StatusCode::METHOD_NOT_ALLOWED
        );
    }
    Ok(())
}

/// TRACE is refused because it would echo headers that only the browser may see, such as cookies.
#[tokio::test]
async fn other_methods_are_refused_with_405() -> anyhow::Result<()> {
    let gateway = Gateway::start(&["--rate-burst", "100"]).await?;
    for path in [
        "/api/contact",
        "/api/newsletter/confirm",
        "/api/newsletter/unsubscribe",
        "/api/openapi.json",
    ] {
        for method in ["TRACE", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] {
            let method = Method::from_bytes(method.as_bytes())?;
            let asked = gateway
                .client
                .request(method.clone(), format!("{}{path}", gateway.url));
            let status = refusal(asked).await?.0;
            assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_unsubscribe_link_opens_the_confirmation_page() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    for (query, token) in [
        ("?token=a.b-c_d", "token=a.b-c_d"),
        (
            "?token=%26newsletter=confirm%0d%0a",
            "token=%26newsletter=confirm%0d%0a",
        ),
        // The redirect puts `newsletter=unsubscribe` first, and the page ignores a second value.
        ("?newsletter=confirm&token=a", "newsletter=confirm&token=a"),
        ("", ""),
    ] {
        let opened = gateway
            .get(&format!("/api/newsletter/unsubscribe{query}"))
            .send()
            .await?;
        assert_eq!(opened.status(), StatusCode::SEE_OTHER, "{query}");
        assert_eq!(
            opened.headers()[header::LOCATION],
            format!("/?newsletter=unsubscribe&{token}")
        );
    }
    Ok(())
}

#[tokio::test]
async fn each_unreadable_body_gets_its_own_status() -> anyhow::Result<()> {
    let gateway = Gateway::start(&["--rate-burst", "100"]).await?;
    for form in [
        "/api/contact",
        "/api/newsletter",
        "/api/newsletter/confirm",
        "/api/newsletter/unsubscribe",
    ] {
        let send = |content_type: &'static str, body: &'static [u8]| {
            refusal(
                gateway
                    .post(form)
                    .header(header::CONTENT_TYPE, content_type)
                    .body(body),
            )
        };
        assert_eq!(
            send("text/plain", b"{}").await?.0,
            StatusCode::UNSUPPORTED_MEDIA_TYPE
        );
        for malformed in [
            &b""[..],
            b"{",
            b"[]{}",
            b"null",
            b"[]",
            b"[\"a@b.example\"]",
            b"[[]]",
            b"[{}]",
            b"\"a@b.example\"",
            b"7",
            b"true",
            b"{\"attribution\":[],\"email\":[],\"token\":[]}",
            b"{\"attribution\":\"/contact\",\"token\":null}",
            b"{\"email\":{\"of\":\"a@b.example\"},\"token\":[\"a\"]}",
            b"{\"email\":7,\"name\":7,\"token\":7}",
            b"{\"email\":\"\xff\",\"token\":\"\xff\"}",
        ] {
            let (status, _) = send("application/json", malformed).await?;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{form} {malformed:?}");
        }
        let large = format!("{{\"message\":\"{}\"}}", "x".repeat(300 * 1024));
        let large = gateway
            .post(form)
            .header(header::CONTENT_TYPE, "application/json")
            .body(large);
        assert_eq!(refusal(large).await?.0, StatusCode::PAYLOAD_TOO_LARGE);
    }
    Ok(())
}

#[tokio::test]
async fn json_objects_of_scripts_are_read() -> anyhow::Result<()> {
    const JSON: &str = "application/json";
    const ITS_ENCODING: &str = "application/json; charset=utf-8";
    let gateway = Gateway::start(&["--rate-burst", "100"]).await?;
    // `website` marks the form as a robot's, so the gateway answers 200 without a service.
    for (content_type, body) in [
        (JSON, r#"{"website":"x"}"#),
        (JSON, " \r\n{ \"website\" : \"x\" }\n"),
        (
            JSON,
            r#"{"website":"x","email":"zoe@example.org","attribution":null}"#,
        ),
        (
            JSON,
            r#"{"website":"x","attribution":{},"more":["of",{"a":"later release"}]}"#,
        ),
        (
            ITS_ENCODING,
            r#"{"attribution":{"page":"/contact","utmSource":"mail"},"website":"\u00eb"}"#,
        ),
        ("application/vnd.api+json", r#"{"website":"x"}"#),
    ] {
        for form in ["/api/contact", "/api/newsletter"] {
            let sent = gateway.post(form).header(header::CONTENT_TYPE, content_type);
            let answer = sent.body(body).send().await?;
            assert_eq!(answer.status(), StatusCode::OK, "{form} {content_type} {body}");
            assert_eq!(answer.json::<Value>().await?["success"], json!(true));
        }
    }
    Ok(())
}

#[tokio::test]
async fn one_click_is_understood_however_its_body_ends() -> anyhow::Result<()> {
    const PAIRS: &str = "application/x-www-form-urlencoded";
    const PARTS: &str = "multipart/form-data; boundary=X";
    /// The gateway understood the body, so it calls the service, which is unavailable.
    const UNDERSTOOD: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
    let gateway = Gateway::start(&[]).await?;
    let parts = |value: &str| {
        format!(
            "--X\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n{value}\r\n--X--\r\n"
        )
    };
    let cases = [
        (PAIRS, "List-Unsubscribe=One-Click".to_owned(), UNDERSTOOD),
        (PAIRS, "List-Unsubscribe=One-Click\r\n".to_owned(), UNDERSTOOD),
        (PAIRS, "List-Unsubscribe=One-Click\n".to_owned(), UNDERSTOOD),
        (
            "Application/X-Www-Form-Urlencoded",
            "List-Unsubscribe=One-Click%0D%0A".to_owned(),
            UNDERSTOOD,
        ),
        (PARTS, parts("One-Click"), UNDERSTOOD),
        (
            "Multipart/Form-Data; Boundary=X",
            parts("One-Click\r\n"),
            UNDERSTOOD,
        ),
        (PAIRS, "\r\n".to_owned(), StatusCode::BAD_REQUEST),
    ];
    let answers = cases.map(async |(content_type, body, expected)| {
        let sent = gateway.post("/api/newsletter/unsubscribe?token=a");
        let sent = sent.header(header::CONTENT_TYPE, content_type).body(body.clone());
        let status = refusal(sent).await?.0;
        assert_eq!(status, expected, "{content_type} {body:?}");
        anyhow::Ok(())
    });
    try_join_all(answers).await?;
    Ok(())
}

#[tokio::test]
async fn json_may_have_any_case_or_a_byte_order_mark_but_no_encoding() -> anyhow::Result<()> {
    /// The gateway understood the body, so it calls the service, which is unavailable.
    const UNDERSTOOD: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
    const ENCODED: StatusCode = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    let gateway = Gateway::start(&[]).await?;
    for (content_type, encoding, body, expected) in [
        ("Application/JSON", "identity", "{}", UNDERSTOOD),
        ("application/Vnd.Site+Json", "identity", "\u{feff}{}", UNDERSTOOD),
        ("application/json", "gzip", "{}", ENCODED),
        ("application/x-www-form-urlencoded", "br", "name=Ada", ENCODED),
    ] {
        let sent = gateway
            .post("/api/contact")
            .header(header::CONTENT_TYPE, content_type);
        let sent = sent.header(header::CONTENT_ENCODING, encoding).body(body);
        let status = refusal(sent).await?.0;
        assert_eq!(status, expected, "{content_type} {encoding}");
    }
    Ok(())
}

#[tokio::test]
async fn an_unavailable_service_is_503_with_retry_after() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let application = multipart::Form::new().text("name", "Ada");
    let requests = [
        gateway.post("/api/contact").json(&json!({})),
        gateway.post("/api/newsletter").json(&json!({})),
        gateway.post("/api/newsletter/confirm").json(&json!({})),
        gateway.post("/api/career-application").multipart(application),
    ];
    for answer in try_join_all(requests.map(RequestBuilder::send)).await? {
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()[header::RETRY_AFTER], "5");
        assert_eq!(answer.json::<Value>().await?["success"], json!(false));
    }
    let readiness = gateway.health("/readyz").send().await?;
    assert_eq!(readiness.status(), StatusCode::SERVICE_UNAVAILABLE);
    let missing = readiness.json::<Value>().await?["missing"].clone();
    assert_eq!(missing, json!(["contact", "newsletter", "careers"]));
    assert_eq!(gateway.health("/livez").send().await?.status(), StatusCode::OK);
    Ok(())
}

#[tokio::test]
async fn a_visitors_burst_of_forms_is_rate_limited() -> anyhow::Result<()> {
    let gateway = Gateway::start(&["--rate-per-minute", "1"]).await?;
    for (path, at_once, longest_wait) in [
        ("/api/contact", 5, 60),
        ("/api/remote-failure", 5, 60),
        ("/api/newsletter/confirm", 60, 1),
        ("/api/newsletter/unsubscribe", 60, 1),
    ] {
        let from = |visitor: &'static str| {
            let request = gateway.post(path).body("not even JSON");
            let forwarded = format!("198.51.100.66, {visitor}");
            request.header("x-forwarded-for", forwarded).send()
        };
        for answer in try_join_all((0..at_once).map(|_| from("203.0.113.1"))).await? {
            assert_eq!(answer.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path}");
        }
        let mut refused = from("203.0.113.1").await?;
        // The quota for links refills each second, so one more request may be admitted.
        for _ in 0..20 {
            if refused.status() != StatusCode::TOO_MANY_REQUESTS {
                refused = from("203.0.113.1").await?;
            }
        }
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS, "{path}");
        let wait: u64 = refused.headers()[header::RETRY_AFTER].to_str()?.parse()?;
        assert!((1..=longest_wait).contains(&wait), "{path}: {wait}");
        let other = from("203.0.113.2").await?;
        assert_eq!(other.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn a_report_of_an_unknown_remote_is_refused() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    for (remote, status) in [("ghost", StatusCode::BAD_REQUEST), ("careers", StatusCode::OK)] {
        let report = json!({ "remote": remote, "reason": "slow" });
        let answer = gateway.post("/api/remote-failure").json(&report).send().await?;
        assert_eq!(answer.status(), status, "{remote}");
    }
    Ok(())
}

#[tokio::test]
async fn a_refused_upload_is_drained_before_the_answer() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let file = multipart::Part::bytes(vec![b'x'; 20 << 20]).file_name("cv.pdf");
    let form = multipart::Form::new().text("name", "Ada").part("resume", file);
    let (status, _) = refusal(gateway.post("/api/career-application").multipart(form)).await?;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    Ok(())
}

#[tokio::test]
async fn other_sites_may_call_only_where_a_setting_says_so() -> anyhow::Result<()> {
    const FRIEND: &str = "https://friend.example";
    let closed = Gateway::start(&[]).await?;
    let open = Gateway::start(&["--cors-origins", FRIEND]).await?;
    for (gateway, origin, allowed) in [
        (&closed, FRIEND, None),
        (&open, FRIEND, Some(FRIEND)),
        (&open, "https://other.example", None),
        (&open, "https://friend.example.other.example", None),
        (&open, "null", None),
    ] {
        let request = gateway.post("/api/contact").header(header::ORIGIN, origin);
        let answer = request.json(&json!({})).send().await?;
        let told = answer.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
        let told = told.and_then(|told| told.to_str().ok());
        assert_eq!(told, allowed, "{origin}");
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    for path in ["/api/openapi.json", "/api/nothing", "/nothing"] {
        let answer = gateway.get(path).send().await?;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'",
            ),
            ("strict-transport-security", "max-age=63072000; includeSubDomains"),
            ("referrer-policy", "strict-origin-when-cross-origin"),
            (
                "permissions-policy",
                "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
            ),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.headers()[name], value, "{path} {name}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_stalled_body_is_answered_408() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let stalled = Body::wrap_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let message = gateway
        .post("/api/contact")
        .header(header::CONTENT_TYPE, "application/json")
        .body(stalled);
    assert_eq!(refusal(message).await?.0, StatusCode::REQUEST_TIMEOUT);
    Ok(())
}

#[tokio::test]
async fn a_wrongly_chunked_body_is_a_bad_request() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let address = gateway.url.strip_prefix("http://").context("an address")?;
    let multipart = "multipart/form-data; boundary=x";
    for (path, content_type, first) in [
        ("contact", "application/json", "1\r\n{"),
        ("career-application", multipart, "5\r\n--x\r\n"),
    ] {
        let mut line = TcpStream::connect(address).await?;
        let request = format!(
            "POST /api/{path} HTTP/1.1\r\nHost: site\r\nTransfer-Encoding: chunked\r\n\
             Content-Type: {content_type}\r\n\r\n{first}\r\nnot a number\r\n"
        );
        line.write_all(request.as_bytes()).await?;
        let mut answer = [0; 12];
        line.read_exact(&mut answer).await?;
        assert_eq!(answer, *b"HTTP/1.1 400", "{path}");
    }
    Ok(())
}
