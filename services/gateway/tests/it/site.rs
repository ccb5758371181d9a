//! The built site as browsers and crawlers fetch it.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context;
use reqwest::{StatusCode, header};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::without_services::Gateway;

const HOST: &str = "Host: localhost\r\n";
const ROUTES: &str = r#"{
    "redirects": [
        { "from": "/services/retail", "to": "/services/retail-wholesale-high-risk" },
        { "from": "/blog", "parameters": ["category=trends", "page=2"], "to": "/blog/category/trends/page/2" },
        { "from": "/blog", "parameters": ["category=trends"], "to": "/blog/category/trends" }
    ],
    "notFound": [{ "prefix": "/", "page": "/404.html" }, { "prefix": "/blog/", "page": "/blog/404.html" }],
    "gone": [
        { "path": "/careers/closed", "since": 1700000000, "page": "careers/closed.closed.html" },
        { "path": "/careers/closing", "since": 32503680000, "page": "careers/closing.closed.html" }
    ],
    "variants": [{ "path": "/", "parameter": "variant=impact", "page": "index.impact.html" }],
    "scriptHashes": ["sha256-abc="],
    "styleHashes": ["sha256-def="],
    "trustedTypePolicies": ["default"],
    "frameSources": ["https://maps.example"]
}"#;

const FILES: [(&str, &str); 19] = [
    ("_routes.json", ROUTES),
    ("index.html", "<h1>Home</h1>"),
    ("index.impact.html", "<h1>Impact</h1>"),
    ("blog.html", "<h1>Blog</h1>"),
    ("blog/case-study.html", "<h1>Case</h1>"),
    ("careers/closed.html", "<h1>Former</h1>"),
    ("careers/closed.closed.html", "<h1>Closed</h1>"),
    ("careers/closing.html", "<h1>Open</h1>"),
    ("careers/closing.closed.html", "<h1>Not yet</h1>"),
    ("404.html", "<h1>Oops! Page not found</h1>"),
    ("blog/404.html", "<h1>Blog Post Not Found</h1>"),
    ("assets/main.1a2b.js", "plain"),
    ("assets/main.1a2b.js.br", "brotli"),
    ("remotes/blog/remoteEntry.js", "entry"),
    ("remotes/blog/assets/list.1a2b.js", "chunk"),
    ("shop.svg", "<svg><style>a{}</style></svg>"),
    ("favicon.svg", "<svg/>"),
    ("film.mp4", "film"),
    (".well-known/security.txt", "Contact: nobody\n"),
];

async fn site() -> anyhow::Result<(Gateway, TempDir)> {
    site_with(&[]).await
}

async fn site_with(flags: &[&str]) -> anyhow::Result<(Gateway, TempDir)> {
    let folder = TempDir::new()?;
    for (path, content) in FILES {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        fs::write(path, content)?;
    }
    let own = ["--site-dir", &folder.path().to_string_lossy()];
    let gateway = Gateway::start(&[&own, flags].concat()).await?;
    Ok((gateway, folder))
}

/// Returns the answer to a path. Sends the path exactly as written, which an HTTP client would normalize.
async fn raw_answer(gateway: &Gateway, path: &str, hosts: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(gateway.url.trim_start_matches("http://")).await?;
    let request = format!("GET {path} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn each_page_has_one_address() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for (path, content) in [
        ("/", "<h1>Home</h1>"),
        ("/?utm_source=mail&variant=impact", "<h1>Impact</h1>"),
        ("/?variant=other", "<h1>Home</h1>"),
        ("/blog", "<h1>Blog</h1>"),
        ("/blog?variant=impact", "<h1>Blog</h1>"),
        ("/blog/case-study?page=2", "<h1>Case</h1>"),
    ] {
        let page = gateway.get(path).send().await?;
        assert_eq!(page.status(), StatusCode::OK, "{path}");
        assert_eq!(page.text().await?, content);
    }
    for (from, to) in [
        ("/index.html", "/"),
        ("/blog/index.html", "/blog"),
        ("/blog/index.html?page=2", "/blog?page=2"),
        ("/blog/", "/blog"),
        ("/blog.html?category=privacy", "/blog?category=privacy"),
        ("/services/retail", "/services/retail-wholesale-high-risk"),
        ("/services/retail/", "/services/retail-wholesale-high-risk"),
        ("/blog?category=trends", "/blog/category/trends"),
        ("/blog?page=2&category=trends", "/blog/category/trends/page/2"),
        ("/blog/?a=b&category=trends", "/blog/category/trends?a=b"),
    ] {
        let moved = gateway.get(from).send().await?;
        assert_eq!(moved.status(), StatusCode::PERMANENT_REDIRECT, "{from}");
        assert_eq!(moved.headers()[header::LOCATION], to);
    }
    Ok(())
}

#[tokio::test]
async fn each_page_has_one_spelling_of_its_address() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for (from, to) in [
        ("//blog", "/blog"),
        ("//?variant=impact", "/?variant=impact"),
        ("///blog?page=//2%2f", "/blog?page=//2%2f"),
        ("/blog//case-study", "/blog/case-study"),
        ("/./blog/%2e/case-study", "/blog/case-study"),
        ("/%62%6C%6f%67%2Fcase%2Dstudy", "/blog/case-study"),
        ("/blog%2ehtml", "/blog"),
        ("/blog%2f", "/blog"),
        ("//services//retail/", "/services/retail-wholesale-high-risk"),
        ("//blog?category=trends", "/blog/category/trends"),
        ("//careers/closed", "/careers/closed"),
        ("//assets/main.1a2b.js", "/assets/main.1a2b.js"),
        ("/%5froutes.json", "/_routes.json"),
        ("http://other.example//blog", "/blog"),
        ("http://other.example/%62log?a=b", "/blog?a=b"),
    ] {
        let answer = raw_answer(&gateway, from, HOST).await?;
        assert!(answer.starts_with("HTTP/1.1 308 "), "{from}: {answer}");
        let location = format!("\r\nlocation: {to}\r\n");
        assert!(answer.contains(&location), "{from}: {answer}");
        let there = raw_answer(&gateway, to, HOST).await?;
        assert!(!there.starts_with("HTTP/1.1 308 "), "{to}: {there}");
    }
    for served in ["/", "/blog", "/blog/case-study", "/blog?a=//b", "/film.mp4"] {
        let answer = raw_answer(&gateway, served, HOST).await?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{served}: {answer}");
    }
    Ok(())
}

#[tokio::test]
async fn cached_pages_get_own_ids_and_require_one_host() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    let mut ids = BTreeSet::new();
    for hosts in [
        "",
        "Host: localhost\r\nHost: other.example\r\n",
        "Host: visitor@localhost\r\n",
    ] {
        let page = gateway.get("/blog").send().await?;
        assert_eq!(page.status(), StatusCode::OK);
        ids.insert(page.headers()["x-request-id"].to_str()?.to_owned());
        let refused = raw_answer(&gateway, "/blog", hosts).await?;
        assert!(refused.starts_with("HTTP/1.1 400"), "{hosts}: {refused}");
    }
    assert_eq!(ids.len(), 3, "{ids:?}");
    Ok(())
}

#[tokio::test]
async fn a_cached_page_allows_each_cors_origin() -> anyhow::Result<()> {
    let friends = ["https://friend.example", "https://another.example"];
    let (gateway, _folder) = site_with(&["--cors-origins", &friends.join(",")]).await?;
    for friend in [friends, friends].concat() {
        let page = gateway.get("/blog").header(header::ORIGIN, friend).send().await?;
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(page.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], friend);
    }
    Ok(())
}

#[tokio::test]
async fn no_path_leaves_the_host_or_the_folder() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for path in [
        "//other.example/",
        "//other.example.html",
        "/\\other.example/",
        "/\\other.example.html",
        "/\\/other.example/index.html",
        "///other.example/",
        "//other.example/%2e%2e",
        "/%2f%2fother.example",
        "/%2fother.example/",
        "/%5cother.example/",
        "/%5c%5cother.example.html",
        "/.//other.example",
        "/.%2f/other.example",
        "//\\other.example/",
        "/%09/other.example/",
        "/https://other.example/",
        "http:///other.example/",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/./_routes.json",
        "/..%2f..%2fetc/passwd",
        "/_routes.json",
        "/assets/",
        "/assets",
    ] {
        let answer = raw_answer(&gateway, path, HOST).await?;
        let (status, headers) = answer.split_once("\r\n").context("a status line")?;
        assert!(!status.contains(" 20"), "{path}: {status}");
        let mut lines = headers.lines();
        if let Some(location) = lines.find_map(|line| line.strip_prefix("location: ")) {
            // Resolves the redirect as a browser does (WHATWG URL).
            let base = reqwest::Url::parse(&gateway.url)?;
            let target = base.join(location)?;
            assert_eq!(target.origin(), base.origin(), "{path} leads to {target}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_closed_position_answers_410_with_its_page() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for (path, status, page) in [
        ("/careers/closed", StatusCode::GONE, "<h1>Closed</h1>"),
        ("/careers/closed?a=b", StatusCode::GONE, "<h1>Closed</h1>"),
        ("/careers/closing", StatusCode::OK, "<h1>Open</h1>"),
        // The page of a closed position is not served under the name of its file.
        (
            "/careers/closed.closed",
            StatusCode::NOT_FOUND,
            "<h1>Oops! Page not found</h1>",
        ),
    ] {
        let answer = gateway.get(path).send().await?;
        assert_eq!(answer.status(), status, "{path}");
        assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-cache");
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        let policy = answer.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()?
            .to_owned();
        assert!(policy.contains("'sha256-abc='"), "{path}: {policy}");
        assert_eq!(answer.text().await?, page, "{path}");
    }
    // A browser that revalidates its cached page of the open position gets a 410, not a 304.
    let kept = gateway
        .get("/careers/closed")
        .header(header::IF_MODIFIED_SINCE, "Fri, 01 Jan 2100 00:00:00 GMT");
    assert_eq!(kept.send().await?.status(), StatusCode::GONE);
    let head = gateway.client.head(format!("{}/careers/closed", gateway.url));
    assert_eq!(head.send().await?.status(), StatusCode::GONE);
    Ok(())
}

#[tokio::test]
async fn a_missing_page_is_its_areas_404() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for (path, page) in [
        ("/nothing", "Oops! Page not found"),
        ("/blog/nothing", "Blog Post Not Found"),
        ("/nothing.png", "Oops!"),
    ] {
        let answer = gateway.get(path).send().await?;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
        assert!(answer.text().await?.contains(page), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn overlong_paths_do_not_exist() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for length in [235, 251, 255, 256, 4_000, 20_000] {
        let long = "a".repeat(length);
        for path in [
            format!("/{long}"),
            format!("/assets/{long}.js"),
            format!("/remotes/blog/{long}"),
            format!("/blog/{}", "%24".repeat(length)),
            format!("/{}", "a/".repeat(length) + "b"),
        ] {
            let status = gateway.get(&path).send().await?.status();
            let is_refused = [StatusCode::NOT_FOUND, StatusCode::URI_TOO_LONG].contains(&status);
            assert!(is_refused, "{status} for {} bytes of {}", path.len(), &path[..9]);
        }
    }
    Ok(())
}

#[tokio::test]
async fn pages_allow_only_our_scripts_and_styles() -> anyhow::Result<()> {
    const POLICY: &str = "default-src 'none'; script-src 'self' 'sha256-abc='; style-src 'self' 'sha256-def='; \
                          img-src 'self'; font-src 'self'; connect-src 'self'; media-src 'self'; manifest-src 'self'; \
                          frame-src https://maps.example; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                          require-trusted-types-for 'script'; trusted-types default 'allow-duplicates'";
    let (gateway, _folder) = site().await?;
    for path in ["/", "/blog/case-study", "/nothing", "/nothing.svg"] {
        let page = gateway.get(path).send().await?;
        assert_eq!(page.headers()[header::CONTENT_SECURITY_POLICY], POLICY, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn every_file_has_its_type_policy_and_time_in_caches() -> anyhow::Result<()> {
    const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";
    const DRAWING: &str = "default-src 'none'; style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; \
                           frame-ancestors 'none'";
    const FILM: &str = "default-src 'none'; img-src 'self'; media-src 'self'; frame-ancestors 'none'";
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    let (gateway, _folder) = site().await?;
    for (path, kind, policy, is_kept) in [
        ("/", "text/html; charset=utf-8", None, false),
        ("/nothing", "text/html; charset=utf-8", None, false),
        ("/assets/nothing.js", "text/html; charset=utf-8", None, false),
        ("/assets/main.1a2b.js", SCRIPT, Some(NOTHING), true),
        ("/remotes/blog/assets/list.1a2b.js", SCRIPT, Some(NOTHING), true),
        ("/remotes/blog/remoteEntry.js", SCRIPT, Some(NOTHING), false),
        ("/shop.svg", "image/svg+xml", Some(DRAWING), false),
        ("/favicon.svg", "image/svg+xml", Some(NOTHING), false),
        ("/film.mp4", "video/mp4", Some(FILM), false),
        (
            "/.well-known/security.txt",
            "text/plain; charset=utf-8",
            Some(NOTHING),
            false,
        ),
    ] {
        let answer = gateway.get(path).send().await?;
        let headers = answer.headers();
        assert_eq!(headers[header::CONTENT_TYPE], kind, "{path}");
        if let Some(policy) = policy {
            assert_eq!(headers[header::CONTENT_SECURITY_POLICY], policy, "{path}");
        }
        let caching = headers[header::CACHE_CONTROL].to_str()?;
        assert_eq!(caching.contains("immutable"), is_kept, "{path}: {caching}");
    }
    Ok(())
}

#[tokio::test]
async fn a_304_keeps_its_headers() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for path in ["/", "/assets/main.1a2b.js"] {
        let first = gateway.get(path).send().await?;
        let modified = &first.headers()[header::LAST_MODIFIED];
        let again = gateway.get(path).header(header::IF_MODIFIED_SINCE, modified);
        let again = again.send().await?;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        for name in [
            header::CACHE_CONTROL,
            header::CONTENT_SECURITY_POLICY,
            header::VARY,
        ] {
            assert_eq!(again.headers()[&name], first.headers()[&name], "{path} {name}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_range_is_served_only_if_if_range_matches() -> anyhow::Result<()> {
    const SCRIPT: &str = "/assets/main.1a2b.js";
    let (gateway, _folder) = site().await?;
    let whole = gateway.get(SCRIPT).send().await?;
    let (tag, modified) = (
        &whole.headers()[header::ETAG],
        &whole.headers()[header::LAST_MODIFIED],
    );
    let answered = async |range: &str, if_range: Option<&[u8]>| {
        let mut request = gateway.get(SCRIPT).header(header::RANGE, range);
        if let Some(condition) = if_range {
            request = request.header(header::IF_RANGE, condition);
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        anyhow::Ok((status, answer.text().await?))
    };
    for condition in [None, Some(tag.as_bytes()), Some(modified.as_bytes())] {
        assert_eq!(answered("bytes=0-1", condition).await?, (206, "pl".to_owned()));
    }
    let weak = [b"W/", tag.as_bytes()].concat();
    for condition in [
        &b"\"another\""[..],
        &weak,
        b"Thu, 01 Jan 1970 00:00:00 GMT",
        b"nonsense",
    ] {
        assert_eq!(
            answered("bytes=0-1", Some(condition)).await?,
            (200, "plain".to_owned())
        );
        assert_eq!(
            answered("bytes=90-", Some(condition)).await?,
            (200, "plain".to_owned())
        );
    }
    for range in ["bytes=90-", "lines=0-1", "bytes=0-1,3-4", "bytes=x-y", "bytes"] {
        assert_eq!(answered(range, None).await?, (200, "plain".to_owned()), "{range}");
    }
    Ok(())
}

#[tokio::test]
async fn a_missing_site_dir_fails_the_start() {
    let started = Gateway::start(&["--site-dir", "/nowhere"]).await;
    let sentence = started.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        sentence.starts_with("The setting SITE_DIR is wrong"),
        "{sentence}"
    );
}
