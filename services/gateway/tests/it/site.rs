//! The built site as browsers and crawlers fetch it.

use std::{fs, path::Path};

use anyhow::Context;
use reqwest::{StatusCode, header};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::without_services::Gateway;

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

async fn site() -> anyhow::Result<(Gateway, TempDir)> {
    site_with(&[]).await
}

async fn site_with(flags: &[&str]) -> anyhow::Result<(Gateway, TempDir)> {
    let folder = TempDir::new()?;
    let write = |path: &str, content: &[u8]| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        fs::write(path, content)
    };
    write("_routes.json", ROUTES.as_bytes())?;
    write("index.html", b"<h1>Home</h1>")?;
    write("index.impact.html", b"<h1>Impact</h1>")?;
    write("blog.html", b"<h1>Blog</h1>")?;
    write("blog/case-study.html", b"<h1>Case</h1>")?;
    write("careers/closed.html", b"<h1>Former</h1>")?;
    write("careers/closed.closed.html", b"<h1>Closed</h1>")?;
    write("careers/closing.html", b"<h1>Open</h1>")?;
    write("careers/closing.closed.html", b"<h1>Not yet</h1>")?;
    write("404.html", b"<h1>Oops! Page not found</h1>")?;
    write("blog/404.html", b"<h1>Blog Post Not Found</h1>")?;
    write("assets/main.1a2b.js", b"plain")?;
    write("assets/main.1a2b.js.br", b"brotli")?;
    write("remotes/blog/remoteEntry.js", b"entry")?;
    write("shop.svg", b"<svg><style>a{}</style></svg>")?;
    write("favicon.svg", b"<svg/>")?;
    write("film.mp4", b"film")?;
    write(
        ".well-known/security.txt",
        b"Contact: mailto:admin@oculant.example\n",
    )?;
    write("remotes/blog/assets/list.1a2b.js", b"chunk")?;
    let own = ["--site-dir", &folder.path().to_string_lossy()];
    let gateway = Gateway::start(&[&own, flags].concat()).await?;
    Ok((gateway, folder))
}

/// Answer to a path exactly as written: an HTTP client would normalize it.
async fn raw_answer_to(gateway: &Gateway, path: &str) -> anyhow::Result<String> {
    raw_answer(gateway, path, "Host: localhost\r\n").await
}

async fn raw_answer(gateway: &Gateway, path: &str, headers: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(gateway.url.trim_start_matches("http://")).await?;
    let request = format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
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
        (
            "/blog/?utm_source=mail&category=trends",
            "/blog/category/trends?utm_source=mail",
        ),
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
        ("///blog", "/blog"),
        ("//", "/"),
        ("//?variant=impact", "/?variant=impact"),
        ("//blog?utm_source=mail", "/blog?utm_source=mail"),
        ("//blog?page=//2%2f", "/blog?page=//2%2f"),
        ("/blog//case-study", "/blog/case-study"),
        ("/blog%2Fcase-study", "/blog/case-study"),
        ("/./blog/%2e/case-study", "/blog/case-study"),
        ("/%62log", "/blog"),
        ("/%62%6C%6f%67/case%2Dstudy", "/blog/case-study"),
        ("/blog%2ehtml", "/blog"),
        ("/blog%2f", "/blog"),
        ("//services//retail/", "/services/retail-wholesale-high-risk"),
        ("//blog?category=trends", "/blog/category/trends"),
        ("//careers/closed", "/careers/closed"),
        ("//assets/main.1a2b.js", "/assets/main.1a2b.js"),
        ("//_routes.json", "/_routes.json"),
        ("/%5froutes.json", "/_routes.json"),
        ("http://other.example//blog", "/blog"),
        (
            "http://other.example/%62log?utm_source=mail",
            "/blog?utm_source=mail",
        ),
    ] {
        let answer = raw_answer_to(&gateway, from).await?;
        assert!(answer.starts_with("HTTP/1.1 308 "), "{from}: {answer}");
        assert!(
            answer.contains(&format!("\r\nlocation: {to}\r\n")),
            "{from}: {answer}"
        );
        let there = raw_answer_to(&gateway, to).await?;
        assert!(!there.starts_with("HTTP/1.1 308 "), "{to}: {there}");
    }
    for served in [
        "/",
        "/blog",
        "/blog/case-study",
        "/blog?a=//b",
        "/film.mp4",
        "/.well-known/security.txt",
    ] {
        let answer = raw_answer_to(&gateway, served).await?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{served}: {answer}");
    }
    Ok(())
}

#[tokio::test]
async fn a_page_that_is_kept_is_answered_as_one_that_is_read_but_for_the_requests_id() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    let told = async || {
        let answer = raw_answer_to(&gateway, "/blog").await?;
        let (mut own, mut common): (Vec<_>, Vec<_>) = answer
            .lines()
            .map(str::to_owned)
            .filter(|line| !line.starts_with("date: "))
            .partition(|line| line.starts_with("x-request-id: "));
        common.sort();
        anyhow::Ok((own.pop().context("it has an id")?, common))
    };
    let (read_id, read) = told().await?;
    let (kept_id, kept) = told().await?;
    assert_eq!(kept, read);
    assert_ne!(kept_id, read_id);
    Ok(())
}

#[tokio::test]
async fn a_page_that_is_kept_is_refused_to_whom_it_would_be_refused_were_it_read() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for headers in [
        "",
        "Host: localhost\r\nHost: other.example\r\n",
        "Host: visitor@localhost\r\n",
    ] {
        let page = raw_answer_to(&gateway, "/blog").await?;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        let refused = raw_answer(&gateway, "/blog", headers).await?;
        assert!(refused.starts_with("HTTP/1.1 400"), "{headers}: {refused}");
    }
    Ok(())
}

#[tokio::test]
async fn where_other_sites_may_call_each_is_told_so_of_a_page_whether_it_is_read_or_kept()
-> anyhow::Result<()> {
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
async fn no_address_leads_to_another_host_or_out_of_the_folder() -> anyhow::Result<()> {
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
        let answer = raw_answer_to(&gateway, path).await?;
        let (status, headers) = answer.split_once("\r\n").context("a status line")?;
        assert!(!status.contains(" 20"), "{path}: {status}");
        let mut lines = headers.lines();
        if let Some(location) = lines.find_map(|line| line.strip_prefix("location: ")) {
            // As a browser resolves it (WHATWG URL).
            let base = reqwest::Url::parse(&gateway.url)?;
            let target = base.join(location)?;
            assert_eq!(target.origin(), base.origin(), "{path} leads to {target}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_is_closed_is_410_with_its_page_from_its_time_on() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for (path, status, page) in [
        ("/careers/closed", StatusCode::GONE, "<h1>Closed</h1>"),
        (
            "/careers/closed?utm_source=mail",
            StatusCode::GONE,
            "<h1>Closed</h1>",
        ),
        ("/careers/closing", StatusCode::OK, "<h1>Open</h1>"),
        // The replacement page has no address of its own.
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
    // A revalidation of the open position's page gets a 410, too.
    let kept = gateway
        .get("/careers/closed")
        .header(header::IF_MODIFIED_SINCE, "Fri, 01 Jan 2100 00:00:00 GMT");
    assert_eq!(kept.send().await?.status(), StatusCode::GONE);
    let head = gateway.client.head(format!("{}/careers/closed", gateway.url));
    assert_eq!(head.send().await?.status(), StatusCode::GONE);
    Ok(())
}

#[tokio::test]
async fn what_does_not_exist_is_404_with_the_page_of_its_area() -> anyhow::Result<()> {
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
async fn what_no_disk_can_have_does_not_exist() -> anyhow::Result<()> {
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
async fn browsers_keep_what_carries_a_hash_and_ask_for_the_rest() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    let kept = async |path: &str| {
        let answer = gateway.get(path).send().await?;
        anyhow::Ok(
            answer.headers()[header::CACHE_CONTROL]
                .to_str()?
                .contains("immutable"),
        )
    };
    assert!(kept("/assets/main.1a2b.js").await?);
    assert!(kept("/remotes/blog/assets/list.1a2b.js").await?);
    assert!(!kept("/").await?);
    assert!(!kept("/remotes/blog/remoteEntry.js").await?);
    assert!(!kept("/assets/nothing.js").await?);
    Ok(())
}

#[tokio::test]
async fn compressed_files_go_to_who_takes_them() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    let script = gateway.get("/assets/main.1a2b.js");
    let compressed = script.header(header::ACCEPT_ENCODING, "gzip, br").send().await?;
    assert_eq!(compressed.headers()[header::CONTENT_ENCODING], "br");
    assert_eq!(compressed.text().await?, "brotli");
    assert_eq!(
        gateway.get("/assets/main.1a2b.js").send().await?.text().await?,
        "plain"
    );
    Ok(())
}

#[tokio::test]
async fn pages_run_no_script_but_ours_and_have_no_style_but_ours() -> anyhow::Result<()> {
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
async fn a_file_that_is_opened_alone_runs_nothing() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for (path, policy) in [
        (
            "/shop.svg",
            "default-src 'none'; style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; frame-ancestors 'none'",
        ),
        ("/favicon.svg", "default-src 'none'; frame-ancestors 'none'"),
        (
            "/film.mp4",
            "default-src 'none'; img-src 'self'; media-src 'self'; frame-ancestors 'none'",
        ),
        (
            "/assets/main.1a2b.js",
            "default-src 'none'; frame-ancestors 'none'",
        ),
        (
            "/remotes/blog/remoteEntry.js",
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ] {
        let file = gateway.get(path).send().await?;
        assert_eq!(file.status(), StatusCode::OK, "{path}");
        assert_eq!(file.headers()[header::CONTENT_SECURITY_POLICY], policy, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn every_text_tells_its_encoding() -> anyhow::Result<()> {
    let (gateway, _folder) = site().await?;
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/nothing", "text/html; charset=utf-8"),
        ("/assets/main.1a2b.js", "text/javascript; charset=utf-8"),
        ("/.well-known/security.txt", "text/plain; charset=utf-8"),
        ("/shop.svg", "image/svg+xml"),
        ("/film.mp4", "video/mp4"),
    ] {
        let answer = gateway.get(path).send().await?;
        assert_eq!(answer.headers()[header::CONTENT_TYPE], kind, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_browser_still_has_keeps_its_headers() -> anyhow::Result<()> {
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
async fn a_part_is_given_of_what_the_reader_has_already_and_else_the_whole() -> anyhow::Result<()> {
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
    for range in ["lines=0-1", "bytes=0-1,3-4", "bytes=x-y", "bytes"] {
        assert_eq!(answered(range, None).await?, (200, "plain".to_owned()), "{range}");
    }
    assert_eq!(answered("bytes=90-", None).await?.0, 416);
    Ok(())
}

#[tokio::test]
async fn a_folder_that_holds_no_site_ends_the_start() {
    let started = Gateway::start(&["--site-dir", "/nowhere"]).await;
    let sentence = started.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        sentence.starts_with("The setting SITE_DIR is wrong"),
        "{sentence}"
    );
}
