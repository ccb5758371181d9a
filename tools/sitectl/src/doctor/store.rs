//! Whether the bucket of résumés can be used by us, and by nobody else.

use resumes::{ResumeStore, S3Settings};

use crate::finding::Finding;

/// Looks at the bucket, with our keys and without any.
pub async fn examine(settings: &S3Settings) -> Vec<Finding> {
    let what = format!("S3 bucket {}", settings.s3_bucket);
    if let Err(error) = ResumeStore::new(settings).check().await {
        let see = error.advice.as_deref().unwrap_or("look at the store's log");
        let remedy = format!("{see}; where the bucket is missing, run `sitectl setup`");
        return vec![Finding::wrong(what, error.problem, remedy)];
    }
    let reached = Finding::ok(&*what, "can be used");
    let secrecy = match ResumeStore::is_public(settings).await {
        Ok(false) => Finding::ok(what, "shows nothing to anybody without a key"),
        Ok(true) => Finding::wrong(
            what,
            "anybody can list it or read résumés",
            "take public access away in the store's settings",
        ),
        Err(error) => Finding::warning(
            what,
            error.to_string(),
            "see in the store's settings that it is not public",
        ),
    };
    vec![reached, secrecy]
}
