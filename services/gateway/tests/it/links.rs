//! Rate limit of the links in mails.

use reqwest::{StatusCode, header};

use crate::without_services::Gateway;

#[tokio::test]
async fn the_links_of_mails_may_be_followed_so_often_from_one_address_and_from_others_meanwhile()
-> anyhow::Result<()> {
    let gateway = Gateway::start(&["--link-rate-per-minute", "3"]).await?;
    for path in ["/api/newsletter/confirm", "/api/newsletter/unsubscribe"] {
        let from = |visitor: &'static str| {
            let request = gateway.post(path).header("x-forwarded-for", visitor);
            request.body("not even JSON").send()
        };
        for _ in 0..3 {
            assert_eq!(
                from("203.0.113.1").await?.status(),
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            );
        }
        let refused = from("203.0.113.1").await?;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        let wait: u64 = refused.headers()[header::RETRY_AFTER].to_str()?.parse()?;
        assert!((1..=20).contains(&wait), "{wait}");
        assert_eq!(
            from("203.0.113.2").await?.status(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE
        );
    }
    Ok(())
}
