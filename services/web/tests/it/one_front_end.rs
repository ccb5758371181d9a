//! A server of one front end serves only that front end's files.

use std::{fs, path::Path};

use reqwest::{Client, Response, StatusCode, header, redirect::Policy};
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

struct Web {
    url: String,
    health: String,
    stop: CancellationToken,
    running: JoinHandle<()>,
    _folder: TempDir,
}

impl Web {
    /// Serves a folder like those that the build makes for remotes.
    async fn start() -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        for (path, content) in [
            ("_routes.json", NO_PAGES),
            ("remotes/blog/remoteEntry.js", "entry"),
            ("remotes/blog/assets/list.1a2b.js", "plain"),
            ("remotes/blog/assets/list.1a2b.js.br", "brotli"),
        ] {
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
    let folder = format!("--site-dir={}", folder.display());
    let [listen, health] = ["--listen=127.0.0.1:0", "--health-listen=127.0.0.1:0"];
    Ok(Settings::try_parse_from(["web", listen, health, &folder])?)
}

#[tokio::test]
async fn hashed_assets_are_cached_and_remote_entries_revalidated() -> anyhow::Result<()> {
    const NOTHING: &str = "There is nothing at this address.\n";
    let web = Web::start().await?;
    let (kept, script, text) = (
        "public, max-age=31536000, immutable",
        "text/javascript; charset=utf-8",
        "text/plain; charset=utf-8",
    );
    for (path, status, content_type, cache, content) in [
        ("/remotes/blog/assets/list.1a2b.js", 200, script, kept, "brotli"),
        ("/remotes/blog/remoteEntry.js", 200, script, "no-cache", "entry"),
        ("/remotes/blog/assets/former.js", 404, text, "no-cache", NOTHING),
        ("/remotes/blog", 404, text, "no-cache", NOTHING),
        ("/remotes/blog/assets", 404, text, "no-cache", NOTHING),
    ] {
        let answer = web.get(path).await?;
        assert_eq!(answer.status().as_u16(), status, "{path}");
        let headers = answer.headers();
        assert_eq!(headers[header::CACHE_CONTROL], cache, "{path}");
        assert_eq!(headers[header::CONTENT_TYPE], content_type, "{path}");
        assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(headers.contains_key(header::CONTENT_SECURITY_POLICY));
        assert!(!headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
        assert_eq!(answer.text().await?, content, "{path}");
    }
    for path in ["/", "/about", "/_routes.json"] {
        assert_eq!(web.get(path).await?.status(), StatusCode::NOT_FOUND, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn every_request_names_one_host() -> anyhow::Result<()> {
    let web = Web::start().await?;
    for path in ["/remotes/blog/remoteEntry.js", "/nothing"] {
        for (hosts, is_taken) in [
            // The server caches this answer, but must still refuse the requests that follow.
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
async fn health_probes_are_answered_on_their_own_port() -> anyhow::Result<()> {
    let web = Web::start().await?;
    for (path, said) in [
        ("/livez", r#"{"status":"alive"}"#),
        ("/readyz", r#"{"status":"ready"}"#),
    ] {
        let answer = reqwest::get(format!("{}{path}", web.health)).await?;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.text().await?, said);
        let to_visitors = web.get(path).await?;
        assert_eq!(to_visitors.status(), StatusCode::NOT_FOUND);
    }
    Ok(())
}

#[tokio::test]
async fn a_stop_request_ends_the_server() -> anyhow::Result<()> {
    let web = Web::start().await?;
    web.get("/").await?;
    web.stop.cancel();
    web.running.await?;
    assert!(Client::new().get(format!("{}/", web.url)).send().await.is_err());
    Ok(())
}

#[tokio::test]
async fn an_unbuilt_site_dir_fails_the_start() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let built = Service::build(settings(folder.path())?).await;
    let sentence = built.err().map(|error| error.to_string()).unwrap_or_default();
    let expected = "The setting SITE_DIR is wrong";
    assert!(sentence.starts_with(expected), "{sentence}");
    Ok(())
}
