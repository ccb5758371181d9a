//! Text of a part of a posted form: in the encoding that the part says it is in.

use encoding_rs::{Encoding, UTF_8};
use mime::Mime;

/// The text of a part of this content type, which is UTF-8 where it names no encoding that is known (RFC 7578, 4.4 and 5.1.2); none
/// where the bytes are not in it.
pub fn decode(content_type: Option<&str>, bytes: &[u8]) -> Option<String> {
    let content_type: Option<Mime> = content_type.and_then(|told| told.parse().ok());
    let encoding = content_type
        .as_ref()
        .and_then(|told| told.get_param(mime::CHARSET))
        .and_then(|charset| Encoding::for_label(charset.as_str().as_bytes()))
        .unwrap_or(UTF_8);
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    Some(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_in_the_encoding_that_it_names_and_else_in_utf_8() {
        for (content_type, bytes) in [
            (None, "Zoë".as_bytes()),
            (Some("text/plain"), "Zoë".as_bytes()),
            (Some("text/plain; charset=UTF-8"), "Zoë".as_bytes()),
            (Some("text/plain; charset=utf8"), "Zoë".as_bytes()),
            (Some("text/plain; charset=nobody-knows"), "Zoë".as_bytes()),
            (Some("nothing known"), "Zoë".as_bytes()),
            (Some("text/plain; charset=ISO-8859-1"), b"Zo\xeb"),
            (Some("Text/Plain;Charset=\"iso-8859-1\""), b"Zo\xeb"),
            (Some("text/plain; format=flowed; charset=latin1"), b"Zo\xeb"),
            (Some("text/plain; charset=windows-1252"), b"Zo\xeb"),
            (Some("text/plain; charset=macintosh"), b"Zo\x91"),
            (Some("text/plain; charset=utf-16le"), b"Z\0o\0\xeb\0"),
        ] {
            assert_eq!(
                decode(content_type, bytes).as_deref(),
                Some("Zoë"),
                "{content_type:?}"
            );
        }
    }

    #[test]
    fn what_is_not_in_its_encoding_is_no_text() {
        for (content_type, bytes) in [
            (None, &b"Zo\xeb"[..]),
            (Some("text/plain; charset=utf-8"), b"Zo\xeb"),
            (Some("text/plain; charset=shift_jis"), b"\xff\xff"),
        ] {
            assert_eq!(decode(content_type, bytes), None, "{content_type:?}");
        }
    }
}
