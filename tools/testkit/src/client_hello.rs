//! What a client offers when it begins TLS.

use tokio::net::TcpStream;
use tokio_rustls::{LazyConfigAcceptor, rustls::server::Acceptor};

/// Not a cipher suite, but stands among them (RFC 5746, 3.3).
const RENEGOTIATION: &str = "TLS_EMPTY_RENEGOTIATION_INFO_SCSV";

/// The cipher suites that a client offers on this connection, by name. It learns nothing of what is here, and ends.
pub async fn offered_cipher_suites(stream: TcpStream) -> anyhow::Result<Vec<String>> {
    let hello = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let suites = hello.client_hello().cipher_suites().to_vec();
    let names = suites.iter().map(|suite| format!("{suite:?}"));
    Ok(names.filter(|name| name != RENEGOTIATION).collect())
}

/// Whether a cipher suite has forward secrecy, and none older than TLS 1.2 knows it: so is it with those that authenticate what
/// they encrypt (RFC 5288, RFC 7905, RFC 8446).
pub fn is_modern(suite: &str) -> bool {
    let authenticates = ["_GCM_", "_CHACHA20_POLY1305_"]
        .iter()
        .any(|part| suite.contains(part));
    let has_forward_secrecy = suite.starts_with("TLS13_") || suite.starts_with("TLS_ECDHE_");
    authenticates && has_forward_secrecy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_without_forward_secrecy_or_of_older_versions_are_not_modern() {
        for suite in [
            "TLS13_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        ] {
            assert!(is_modern(suite), "{suite}");
        }
        for suite in [
            "TLS_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
            "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
        ] {
            assert!(!is_modern(suite), "{suite}");
        }
    }
}
