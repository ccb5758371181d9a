//! Addresses among the settings, which are no secrets and must hold none.

/// Whether one of these addresses, divided by commas, is written as `scheme://user:password@host`, or so without the scheme.
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
