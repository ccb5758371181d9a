//! Checks that addresses hold no login.

/// Whether a comma-separated address has a login (`user:password@`), with or without a scheme.
pub fn has_login(value: &str) -> bool {
    value.split(',').any(|address| {
        let (scheme, rest) = address.split_once("://").unzip();
        let authority = rest.unwrap_or(address).split(['/', '?', '#']).next();
        let login = authority.and_then(|authority| authority.rsplit_once('@'));
        login.is_some_and(|(login, _)| {
            scheme.is_some() || (login.contains(':') && !login.contains(char::is_whitespace))
        })
    })
}
