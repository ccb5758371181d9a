//! File names, made safe for people, headers and file systems.

use visitor::invisible;

/// Maximum length of a file name in characters.
const MAX_CHARACTERS: usize = 120;
pub(crate) const NAMELESS: &str = "resume";

/// Readable last part of a path. Removes invisible characters, which can disguise the name. Also removes
/// leading and trailing dots and spaces, because file systems drop them or hide such files.
pub fn readable_file_name(raw: &str) -> String {
    let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
    let visible: Vec<char> = last.chars().filter(|c| !is_invisible(*c)).collect();
    let tail = visible.len().saturating_sub(MAX_CHARACTERS);
    let name: String = visible[tail..].iter().collect();
    match name.trim_matches(|c: char| c == '.' || c.is_whitespace()) {
        "" => NAMELESS.to_owned(),
        name => name.to_owned(),
    }
}

/// Whether a character is invisible. Joiners count as invisible, as they could disguise a file extension.
fn is_invisible(c: char) -> bool {
    c.is_control() || invisible::is_invisible(c) || matches!(c, '\u{200c}' | '\u{200d}')
}

/// Last part of a path in ASCII letters, digits, `.`, `-` and `_`, safe in headers and file systems.
pub fn safe_file_name(raw: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let readable = readable_file_name(raw);
    readable
        .chars()
        .map(|c| if is_safe(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_name_cannot_leave_its_folder_or_its_header() {
        for (raw, safe) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\cv\\Asha Rao.pdf", "Asha_Rao.pdf"),
            ("a\"; filename=\"b.pdf", "a___filename__b.pdf"),
            ("..", "resume"),
            ("résumé.pdf", "r_sum_.pdf"),
        ] {
            assert_eq!(safe_file_name(raw), safe);
        }
    }

    #[test]
    fn a_readable_name_drops_folders_and_invisible_characters() {
        for (raw, readable) in [
            ("/home/zoë/Résumé – Zoë.pdf", "Résumé – Zoë.pdf"),
            ("cv\u{202e}fdp.exe\r\n", "cvfdp.exe"),
            ("cv.exe\u{ad} .\u{feff}. ", "cv.exe"),
            ("\u{200b}", "resume"),
            ("cv\u{3164}\u{34f}.exe\u{ffa0}.pdf\u{200d}", "cv.exe.pdf"),
        ] {
            assert_eq!(readable_file_name(raw), readable);
        }
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        for letter in ["x", "ஆ", "🙂"] {
            let name = readable_file_name(&format!("{}.pdf", letter.repeat(500)));
            assert_eq!(name.chars().count(), MAX_CHARACTERS);
            assert!(name.ends_with(".pdf"));
        }
    }

    fn ending(name: &str) -> Option<&str> {
        name.rsplit_once('.').map(|(_, ending)| ending)
    }

    proptest! {
        #[test]
        fn both_names_are_short_and_stable_and_of_one_ending(raw in "(\\PC|[\\x00-\\x20./\\u{202e}]|\\.pdf){0,200}") {
            let (readable, safe) = (readable_file_name(&raw), safe_file_name(&raw));
            prop_assert_eq!(&readable_file_name(&readable), &readable);
            prop_assert_eq!(&safe_file_name(&safe), &safe);
            prop_assert_eq!(&safe_file_name(&readable), &safe);
            prop_assert!((1..=MAX_CHARACTERS).contains(&readable.chars().count()));
            prop_assert!(!readable.contains(|c| is_invisible(c) || matches!(c, '/' | '\\')));
            prop_assert!((1..=MAX_CHARACTERS).contains(&safe.len()) && safe.is_ascii());
            let is_plain = |ending: &&str| ending.bytes().all(|b| b.is_ascii_alphanumeric());
            prop_assert_eq!(ending(&readable).filter(is_plain), ending(&safe).filter(is_plain));
        }
    }
}
