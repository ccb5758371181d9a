//! Address of the store, checked when the settings are read.

use http::Uri;

/// Parses an address such as `https://s3.example.com`.
///
/// # Errors
///
/// If it is no HTTP(S) address, or HTTPS on a machine without root certificates.
pub fn endpoint(raw: &str) -> Result<String, &'static str> {
    let uri: Option<Uri> = raw.parse().ok();
    match uri.as_ref().and_then(Uri::scheme_str) {
        Some("http") => Ok(raw.to_owned()),
        // Without root certificates the S3 client panics or rejects every certificate.
        Some("https") if rustls_native_certs::load_native_certs().certs.is_empty() => Err(
            "this machine has no root certificates, by which the store would be known; on Debian they are in the package ca-certificates",
        ),
        Some("https") => Ok(raw.to_owned()),
        _ => Err("it is not an address such as https://s3.example.com"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_endpoint_has_a_scheme_and_a_host() {
        for raw in [
            "http://127.0.0.1:9000",
            "https://s3.example.com/",
            "http://[::1]:9000",
        ] {
            assert_eq!(endpoint(raw).as_deref(), Ok(raw));
        }
        let others = "|s3.example.com|s3.example.com:9000|ftp://s3.example.com|https://";
        for raw in others.split('|') {
            assert!(endpoint(raw).is_err(), "{raw} was taken");
        }
    }
}
