//! Canonical path: the only address that serves a file, because a page's scripts know only this address.

/// Canonical path (RFC 3986, 6.2.2 and 6.2.3): unreserved characters and slashes decoded, no repeated or
/// trailing slashes. `None` for a path with `..`.
///
/// The path begins with exactly one slash, so it cannot name another host.
pub(crate) fn of(path: &str) -> Option<String> {
    let plain = decoded(path);
    let names = plain.split('/').filter(|name| !matches!(*name, "" | "."));
    let mut canonical = String::with_capacity(plain.len());
    for name in names {
        if name == ".." {
            return None;
        }
        canonical.push('/');
        canonical.push_str(name);
    }
    if canonical.is_empty() {
        canonical.push('/');
    }
    Some(canonical)
}

/// Decodes unreserved characters and slashes, once. Names of pages have no other encoded characters.
fn decoded(path: &str) -> String {
    let mut pieces = path.split('%');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let coded = piece
            .split_at_checked(2)
            .and_then(|(digits, rest)| Some((u8::from_str_radix(digits, 16).ok()?, rest)))
            .filter(|(byte, _)| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte));
        match coded {
            Some((byte, rest)) => {
                plain.push(char::from(byte));
                plain.push_str(rest);
            }
            None => {
                plain.push('%');
                plain.push_str(piece);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_one_spelling() {
        for (path, canonical) in [
            ("/", "/"),
            ("//", "/"),
            ("/%2f", "/"),
            ("/./", "/"),
            ("/contact", "/contact"),
            ("//contact", "/contact"),
            ("///about//", "/about"),
            ("/blog//case-study/", "/blog/case-study"),
            ("/blog%2Fcase-study", "/blog/case-study"),
            ("/%63ontact", "/contact"),
            ("/%63%6F%6e%74act%2ehtml", "/contact.html"),
            ("/./blog/%2e/case%2Dstudy", "/blog/case-study"),
            ("/%7Ezoe/a_b", "/~zoe/a_b"),
        ] {
            assert_eq!(of(path).as_deref(), Some(canonical), "{path}");
            assert_eq!(of(canonical).as_deref(), Some(canonical));
        }
    }

    #[test]
    fn reserved_and_invalid_escapes_stay_unchanged() {
        for path in [
            "/a%20b", "/a%2520b", "/%", "/%6", "/%zz", "/%+6", "/a%c3%a9", "/%5Cb", "/\\b", "/%00",
            "/%0d%0a", "/@b,c", "/%3f", "/%é",
        ] {
            assert_eq!(of(path).as_deref(), Some(path));
        }
    }

    #[test]
    fn a_path_with_dot_segments_is_refused() {
        for path in ["/..", "/a/../b", "/%2e%2e/b", "/..%2fb", "//.%2e"] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
