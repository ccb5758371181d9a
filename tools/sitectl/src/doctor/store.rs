//! Checks that the bucket of résumés works, and is private.

use resumes::{ResumeStore, S3Settings};

use crate::finding::Finding;

/// Checks the bucket with our keys and without any.
pub async fn examine(settings: &S3Settings) -> Vec<Finding> {
    let what = format!("S3 bucket {}", settings.s3_bucket);
    if let Err(error) = ResumeStore::new(settings).check().await {
        let see = error.advice.as_deref().unwrap_or("look at the store's log");
        let remedy = format!("{see}; if the bucket does not exist, run `sitectl setup`");
        return vec![Finding::wrong(what, error.problem, remedy)];
    }
    let reached = Finding::ok(&*what, "can be used");
    let secrecy = match ResumeStore::is_public(settings).await {
        Ok(false) => Finding::ok(what, "is not public"),
        Ok(true) => Finding::wrong(
            what,
            "is public: anybody can list it or read résumés",
            "remove public access in the store's settings",
        ),
        Err(error) => Finding::warning(
            what,
            error.to_string(),
            "check in the store's settings that it is not public",
        ),
    };
    vec![reached, secrecy]
}
