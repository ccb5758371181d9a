//! The header `Forwarded` (RFC 7239, 4): what each proxy says of whom it was called by.
//!
//! The list is read whole and strictly. What stands in it was written by the visitor first and by proxies then, so an entry that
//! is understood in two ways could make the one's words the other's: a list with one mistake in it says nothing.

/// The value of the parameter `for` of each element of a list; none where the list is malformed.
pub fn nodes(list: &[u8]) -> Option<Vec<Option<String>>> {
    let mut reader = Reader(list);
    let mut nodes = Vec::new();
    loop {
        reader.skip_spaces();
        match reader.peek() {
            None => return Some(nodes),
            // An empty element counts for nothing (RFC 9110, 5.6.1).
            Some(b',') => reader.skip(1),
            Some(_) => nodes.push(reader.element()?),
        }
    }
}

/// What is left to read of a list.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// An element up to its comma: its `for`, if it has one.
    fn element(&mut self) -> Option<Option<String>> {
        let mut node = None;
        loop {
            self.skip_spaces();
            match self.peek() {
                None | Some(b',') => return Some(node),
                Some(b';') => self.skip(1),
                Some(_) => {
                    let (name, value) = self.pair()?;
                    let is_node = name.eq_ignore_ascii_case(b"for");
                    if is_node && node.replace(value).is_some() {
                        return None;
                    }
                }
            }
        }
    }

    /// A parameter. Behind it there is another one, another element, or nothing.
    fn pair(&mut self) -> Option<(&'a [u8], String)> {
        let name = self.take_while(is_token);
        if name.is_empty() || self.peek() != Some(b'=') {
            return None;
        }
        self.skip(1);
        let value = match self.peek() {
            Some(b'"') => self.quoted()?,
            // An address of IPv6 is to be quoted; some proxies write it bare.
            _ => self
                .take_while(|byte| is_token(byte) || b"[]:".contains(&byte))
                .to_vec(),
        };
        self.skip_spaces();
        let ends = matches!(self.peek(), None | Some(b',' | b';'));
        ends.then(|| (name, String::from_utf8_lossy(&value).into_owned()))
    }

    /// A quoted string (RFC 9110, 5.6.4).
    fn quoted(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        loop {
            self.skip(1);
            match self.peek()? {
                b'"' => {
                    self.skip(1);
                    return Some(value);
                }
                b'\\' => {
                    self.skip(1);
                    value.push(self.peek()?);
                }
                byte => value.push(byte),
            }
        }
    }

    fn take_while(&mut self, is_wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.0.iter().position(|byte| !is_wanted(*byte));
        let (taken, left) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = left;
        taken
    }

    fn skip_spaces(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t'));
    }

    fn skip(&mut self, bytes: usize) {
        self.0 = self.0.get(bytes..).unwrap_or_default();
    }

    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }
}

/// RFC 9110, 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &str) -> Option<Vec<String>> {
        let nodes = nodes(list.as_bytes())?.into_iter();
        Some(nodes.map(Option::unwrap_or_default).collect())
    }

    #[test]
    fn the_examples_of_the_rfc_are_understood() {
        let of = |list| read(list).map(|nodes| nodes.join(" "));
        for (list, expected) in [
            (r#"for="_gazonk""#, "_gazonk"),
            (r#"For="[2001:db8:cafe::17]:4711""#, "[2001:db8:cafe::17]:4711"),
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("for=192.0.2.43, for=198.51.100.17", "192.0.2.43 198.51.100.17"),
            (
                r#"for=192.0.2.43,for="[2001:db8:cafe::17]",for=unknown"#,
                "192.0.2.43 [2001:db8:cafe::17] unknown",
            ),
        ] {
            assert_eq!(of(list).as_deref(), Some(expected), "{list}");
        }
    }

    #[test]
    fn commas_and_semicolons_in_quotes_divide_nothing() {
        let list = r#"host="a,for=6.6.6.6;\"";for=192.0.2.1, , proto=http"#;
        assert_eq!(read(list), Some(vec!["192.0.2.1".to_owned(), String::new()]));
    }

    #[test]
    fn a_list_with_one_mistake_says_nothing() {
        for list in [
            r#"for="192.0.2.1"#,
            r#"x=", for=192.0.2.1"#,
            r#"x="\", for=192.0.2.1"#,
            r#"x=""y, for=192.0.2.1"#,
            "for, for=192.0.2.1",
            "=192.0.2.1",
            "for=192.0.2.1;for=192.0.2.2",
            "for=192.0.2.1 192.0.2.2",
            "for=\u{e9}, for=192.0.2.1",
        ] {
            assert_eq!(read(list), None, "{list}");
        }
    }
}
