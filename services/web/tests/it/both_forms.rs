//! Both kinds of hosting give the same answers: the gateway alone, and a server per front end behind a router.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context;
use reqwest::{Client, Method, RequestBuilder, StatusCode, header, redirect::Policy};
use testkit::{Hosting, Ports, Shape, Stack, root};

fn cluster() -> Shape {
    Shape {
        hosting: Hosting::Cluster,
        ..Shape::default()
    }
}

/// Headers whose values may differ between the two kinds of hosting.
const OWN: [&str; 4] = ["date", "etag", "last-modified", "x-request-id"];
/// Request headers that change the answer.
const ASKED: [&[(&str, &str)]; 6] = [
    &[],
    &[("accept-encoding", "gzip, deflate, br, zstd")],
    &[("accept-encoding", "gzip")],
    &[("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT")],
    &[("range", "bytes=0-9")],
    &[("origin", "https://other.example")],
];
/// Paths for each kind of answer, valid in every build of the site.
const ADDRESSES: &str = "
    / /?variant=impact /?variant=other /index.html
    /about /about/ /about.html /about.html?utm_source=mail //about /%61bout
    /blog /blog/case-study /blog/category/technology /blog?category=technology
    /blog/category/gossip /blog/nothing /blog/feed.xml
    /careers /careers/ai-intern /careers/apply/3 //careers?utm_source=mail
    /services/retail /services/retail/ /services/nothing
    /nothing /nothing.png /sitemap.xml /robots.txt /favicon.svg /site.webmanifest
    /.well-known/security.txt /_routes.json
    /assets /assets/ /assets/nothing.js
    /remotes /remotes/ /remotes/blog /remotes/blog/ /remotes/blog/_routes.json
    /remotes/blog/assets/nothing.js /remotes/careers/remoteEntry.js
    /remotes/nobody/remoteEntry.js /remotes/blogger/remoteEntry.js
    //other.example/ /livez /readyz /api/openapi.json /api/nothing
";

#[derive(Debug, PartialEq)]
struct Head {
    status: StatusCode,
    headers: BTreeMap<String, Vec<String>>,
}

struct Answer {
    head: Head,
    body: Vec<u8>,
}

fn files_below(folder: &str) -> anyhow::Result<Vec<String>> {
    let site = root().join("frontends/dist");
    let entries = fs::read_dir(site.join(folder)).context("the site is not built; run: npm run build")?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let address = path.strip_prefix(&site)?;
        if path.is_file() && !is_precompressed(address) {
            files.push(format!("/{}", address.to_string_lossy()));
        }
    }
    Ok(files)
}

fn is_precompressed(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "br" || end == "gz")
}

async fn answer_of(request: RequestBuilder) -> anyhow::Result<Answer> {
    let answer = request.send().await?;
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in answer.headers() {
        let value = match OWN.contains(&name.as_str()) {
            true => "any".to_owned(),
            false => value.to_str()?.to_owned(),
        };
        named.entry(name.to_string()).or_default().push(value);
    }
    let head = Head {
        status: answer.status(),
        headers: named,
    };
    Ok(Answer {
        head,
        body: answer.bytes().await?.into(),
    })
}

#[tokio::test]
async fn both_forms_of_hosting_give_the_same_answers() -> anyhow::Result<()> {
    let one = Stack::start(Ports::free()?, &[]).await?;
    let many = Stack::start_as(cluster(), Ports::free()?, &[]).await?;
    let client = Client::builder().redirect(Policy::none()).build()?;
    let mut addresses: Vec<String> = ADDRESSES.split_whitespace().map(str::to_owned).collect();
    let folders = "|assets|remotes/blog|remotes/blog/assets|remotes/careers/assets";
    for folder in folders.split('|') {
        addresses.extend(files_below(folder)?);
    }
    let mut compared = BTreeMap::new();
    for address in &addresses {
        let others = [(Method::HEAD, ASKED[1]), (Method::POST, ASKED[0])];
        let asked = ASKED.map(|headers| (Method::GET, headers));
        for (method, headers) in asked.into_iter().chain(others) {
            let ask = |site: String| {
                let mut request = client.request(method.clone(), format!("{site}{address}"));
                for (name, value) in headers {
                    request = request.header(*name, *value);
                }
                answer_of(request)
            };
            let (of_one, of_many) = (ask(one.site()).await?, ask(many.site()).await?);
            assert!(of_one.body == of_many.body, "{method} {address} {headers:?}");
            assert_eq!(of_one.head, of_many.head, "{method} {address} {headers:?}");
            *compared.entry(of_one.head.status.as_u16()).or_insert(0) += 1;
        }
    }
    for status in [200, 206, 304, 308, 404, 405] {
        assert!(compared.contains_key(&status), "{status}: {compared:?}");
    }
    ensure_same_form_pages(&client, &one, &many).await?;
    one.stop().await?;
    many.stop().await
}

/// Compares the answers to forms that browsers without scripts send.
async fn ensure_same_form_pages(client: &Client, one: &Stack, many: &Stack) -> anyhow::Result<()> {
    const WRONG: &[(&str, &str)] = &[("email", "zoe@"), ("message", "<b>Hello</b>")];
    const RIGHT: &[(&str, &str)] = &[("email", "zoe@example.org")];
    for (form, fields, from, status) in [
        ("contact", WRONG, "same-origin", 422),
        ("newsletter", WRONG, "same-origin", 422),
        ("newsletter", RIGHT, "same-origin", 303),
        ("contact", WRONG, "cross-site", 403),
        ("career-application", WRONG, "same-origin", 415),
        ("career-application", WRONG, "cross-site", 403),
    ] {
        let send = |site: String| {
            let request = client.post(format!("{site}/api/{form}")).form(fields);
            let request = request.header(header::ACCEPT, "text/html");
            answer_of(request.header("sec-fetch-site", from))
        };
        let (of_one, of_many) = (send(one.site()).await?, send(many.site()).await?);
        assert_eq!(of_one.head.status.as_u16(), status, "{form}");
        assert_eq!(of_one.head, of_many.head, "{form}");
        assert!(of_one.body == of_many.body, "{form}");
        let is_site = String::from_utf8_lossy(&of_one.body).contains("data-site");
        assert_eq!(is_site, status != 303, "{form}");
    }
    Ok(())
}

#[tokio::test]
async fn forged_client_addresses_are_ignored_behind_the_router() -> anyhow::Result<()> {
    let burst = [("RATE_BURST", "1"), ("RATE_PER_MINUTE", "1")];
    let stack = Stack::start_as(cluster(), Ports::free()?, &burst).await?;
    let client = Client::new();
    let status_for = async |forwarded: &str| {
        let form = client.post(format!("{}/api/newsletter", stack.site()));
        let answer = form
            .header("x-forwarded-for", forwarded)
            .header(header::CONTENT_TYPE, "application/json")
            .body(r#"{"email":"nobody"}"#)
            .send()
            .await?;
        anyhow::Ok(answer.status().as_u16())
    };
    assert_eq!(status_for("10.0.0.1").await?, 422);
    assert_eq!(status_for("10.0.0.2").await?, 422);
    // An address that the visitor adds to `X-Forwarded-For` is ignored: only the proxy's entry counts.
    assert_eq!(status_for("192.0.2.7, 10.0.0.1").await?, 429);
    stack.stop().await
}
