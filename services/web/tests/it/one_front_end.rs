//! A server of one front end's folder.

use std::{fs, path::Path};

use axum::body::Body;
use hyper_util::{client::legacy::Client as AnyClient, rt::TokioExecutor};
use reqwest::{Client, Method, Response, StatusCode, header, redirect::Policy};
use site_service::drain::CancellationToken;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};
use web::{Service, Settings};

const NO_PAGES: &str = r#"{
    "redirects": [], "notFound": [], "variants": [], "scriptHashes": [], "styleHashes": [],
    "trustedTypePolicies": [], "frameSources": []
}"#;
const PAGES: &str = r#"{
    "redirects": [],
    "notFound": [{ "prefix": "/", "page": "/404.html" }],
    "variants": [],
    "scriptHashes": ["sha256-abc="],
    "styleHashes": [],
    "trustedTypePolicies": [],
    "frameSources": ["https://maps.example"]
}"#;

struct Web {
    url: String,
    health: String,
    stop: CancellationToken,
    running: JoinHandle<()>,
    _folder: TempDir,
}

impl Web {
    async fn start(files: &[(&str, &str)]) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        for (path, content) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
            fs::write(path, content)?;
        }
        let service = Service::build(settings(folder.path())?).await?;
        let at = |port: u16| format!("http://127.0.0.1:{port}");
        let (url, health) = (at(service.port()), at(service.health_port()));
        let stop = CancellationToken::new();
        let running = tokio::spawn(service.run(stop.clone()));
        Ok(Self {
            url,
            health,
            stop,
            running,
            _folder: folder,
        })
    }

    /// A remote's folder, as the build splits it off.
    async fn of_a_remote() -> anyhow::Result<Self> {
        Self::start(&[
            ("_routes.json", NO_PAGES),
            ("remotes/blog/remoteEntry.js", "entry"),
            ("remotes/blog/assets/list.1a2b.js", "plain"),
            ("remotes/blog/assets/list.1a2b.js.br", "brotli"),
        ])
        .await
    }

    async fn get(&self, path: &str) -> anyhow::Result<Response> {
        let client = Client::builder().redirect(Policy::none()).build()?;
        let request = client.get(format!("{}{path}", self.url));
        Ok(request
            .header(header::ACCEPT_ENCODING, "br")
            .header(header::ORIGIN, "https://other.example")
            .send()
            .await?)
    }
}

fn settings(folder: &Path) -> anyhow::Result<Settings> {
    use clap::Parser;
    let folder = folder.to_string_lossy();
    let flags = [
        "web",
        "--listen",
        "127.0.0.1:0",
        "--health-listen",
        "127.0.0.1:0",
        "--site-dir",
        &folder,
    ];
    Ok(Settings::try_parse_from(flags)?)
}

#[tokio::test]
async fn of_a_remote_browsers_keep_what_carries_a_hash_and_ask_for_its_entry() -> anyhow::Result<()> {
    let web = Web::of_a_remote().await?;
    for (path, content, kept) in [
        (
            "/remotes/blog/assets/list.1a2b.js",
            "brotli",
            "public, max-age=31536000, immutable",
        ),
        ("/remotes/blog/remoteEntry.js", "entry", "no-cache"),
    ] {
        let answer = web.get(path).await?;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let headers = answer.headers();
        assert_eq!(headers[header::CACHE_CONTROL], kept, "{path}");
        assert_eq!(headers[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(headers.contains_key(header::CONTENT_SECURITY_POLICY));
        assert!(!headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
        assert_eq!(answer.text().await?, content);
    }
    Ok(())
}

#[tokio::test]
async fn what_a_remote_has_not_is_said_in_a_sentence() -> anyhow::Result<()> {
    let web = Web::of_a_remote().await?;
    for path in [
        "/remotes/blog/assets/former.js",
        "/remotes/blog",
        "/remotes/blog/assets",
    ] {
        let answer = web.get(path).await?;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-cache");
        assert_eq!(
            answer.headers()[header::CONTENT_TYPE],
            "text/plain; charset=utf-8"
        );
        assert_eq!(answer.text().await?, "There is nothing at this address.\n");
    }
    for path in ["/", "/about", "/_routes.json"] {
        assert_eq!(web.get(path).await?.status(), StatusCode::NOT_FOUND, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn each_page_has_one_spelling_of_its_address() -> anyhow::Result<()> {
    let web = Web::start(&[("_routes.json", PAGES), ("about.html", "<h1>About</h1>")]).await?;
    for (from, to) in [
        ("//about", "/about"),
        ("///about/?utm_source=mail", "/about?utm_source=mail"),
        ("/%61bout", "/about"),
        ("//evil.example", "/evil.example"),
    ] {
        let moved = web.get(from).await?;
        assert_eq!(moved.status(), StatusCode::PERMANENT_REDIRECT, "{from}");
        assert_eq!(moved.headers()[header::LOCATION], to);
    }
    Ok(())
}

#[tokio::test]
async fn the_shell_has_its_pages_and_their_policy() -> anyhow::Result<()> {
    let web = Web::start(&[
        ("_routes.json", PAGES),
        ("about.html", "<h1>About</h1>"),
        ("404.html", "<h1>Oops!</h1>"),
    ])
    .await?;
    for (path, status, content) in [
        ("/about", StatusCode::OK, "<h1>About</h1>"),
        ("/nothing", StatusCode::NOT_FOUND, "<h1>Oops!</h1>"),
    ] {
        let answer = web.get(path).await?;
        assert_eq!(answer.status(), status, "{path}");
        let policy = answer.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()?
            .to_owned();
        assert!(policy.contains("script-src 'self' 'sha256-abc=';"), "{policy}");
        assert!(policy.contains("frame-src https://maps.example;"), "{policy}");
        assert_eq!(answer.text().await?, content);
    }
    let refused = Client::new()
        .request(Method::POST, format!("{}/about", web.url))
        .send()
        .await?;
    assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    Ok(())
}

#[tokio::test]
async fn whatever_is_asked_for_names_one_host() -> anyhow::Result<()> {
    let web = Web::of_a_remote().await?;
    for path in ["/remotes/blog/remoteEntry.js", "/nothing"] {
        for (hosts, is_taken) in [
            // This answer is cached. The next requests must be refused all the same.
            ("Host: site\r\n", true),
            ("Host: site\r\nHost: site\r\n", false),
            ("Host: site\r\nHost: other\r\n", false),
            ("", false),
        ] {
            let mut stream = TcpStream::connect(web.url.trim_start_matches("http://")).await?;
            let request = format!("GET {path} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await?;
            let is_refused = answer.starts_with("HTTP/1.1 400 ");
            assert_ne!(is_refused, is_taken, "{path} {hosts}: {answer}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn it_says_that_it_lives_and_is_ready_to_whom_it_is_not_a_site() -> anyhow::Result<()> {
    let web = Web::of_a_remote().await?;
    for (path, said) in [
        ("/livez", r#"{"status":"alive"}"#),
        ("/readyz", r#"{"status":"ready"}"#),
    ] {
        let answer = reqwest::get(format!("{}{path}", web.health)).await?;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.text().await?, said);
        assert_eq!(
            web.get(path).await?.status(),
            StatusCode::NOT_FOUND,
            "to visitors"
        );
    }
    Ok(())
}

#[tokio::test]
async fn it_speaks_http_2_without_tls() -> anyhow::Result<()> {
    let web = Web::of_a_remote().await?;
    let client = AnyClient::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http::<Body>();
    let answer = client
        .get(format!("{}/remotes/blog/remoteEntry.js", web.url).parse()?)
        .await?;
    assert_eq!(answer.version(), axum::http::Version::HTTP_2);
    assert_eq!(answer.status(), axum::http::StatusCode::OK);
    Ok(())
}

#[tokio::test]
async fn asked_to_stop_it_ends_by_itself() -> anyhow::Result<()> {
    let web = Web::of_a_remote().await?;
    web.get("/").await?;
    web.stop.cancel();
    web.running.await?;
    assert!(Client::new().get(format!("{}/", web.url)).send().await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_folder_that_the_build_did_not_write_ends_the_start() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let built = Service::build(settings(folder.path())?).await;
    let sentence = built.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        sentence.starts_with("The setting SITE_DIR is wrong"),
        "{sentence}"
    );
    Ok(())
}
