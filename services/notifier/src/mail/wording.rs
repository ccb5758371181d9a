//! Formats times, sizes and lines.

use time::{
    OffsetDateTime, UtcOffset, format_description::StaticFormatDescription, macros::format_description,
};
use visitor::invisible::without_invisible;

const TIME: StaticFormatDescription =
    format_description!("[day padding:none] [month repr:long] [year], [hour]:[minute] UTC");

const DAY: StaticFormatDescription = format_description!("[day padding:none] [month repr:long] [year]");

/// A time as in "20 November 2026, 12:00 UTC".
pub fn time(time: OffsetDateTime) -> String {
    time.to_offset(UtcOffset::UTC)
        .format(TIME)
        .expect("every time has a day and an hour")
}

/// A day as in "20 November 2026".
pub fn day(time: OffsetDateTime) -> String {
    time.to_offset(UtcOffset::UTC)
        .format(DAY)
        .expect("every time has a day")
}

/// A size as in "184.3 kB".
pub fn size(bytes: u64) -> String {
    const KILO: u64 = 1_000;
    const MEGA: u64 = 1_000_000;
    // Rounded to tenths.
    let tenths = |unit: u64| (bytes * 10 + unit / 2) / unit;
    match bytes {
        1 => "1 byte".to_owned(),
        0..KILO => format!("{bytes} bytes"),
        // 999,950 bytes and more would round to "1000.0 kB".
        KILO..999_950 => format!("{}.{} kB", tenths(KILO) / 10, tenths(KILO) % 10),
        _ => format!("{}.{} MB", tenths(MEGA) / 10, tenths(MEGA) % 10),
    }
}

/// The text on one line for a header: no control or invisible characters, and at most 160 characters.
pub fn one_line(text: &str) -> String {
    const MAX_LINE_CHARACTERS: usize = 160;
    let visible = without_invisible(text).replace(char::is_control, " ");
    let mut line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(MAX_LINE_CHARACTERS) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use ::time::macros::datetime;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_human_readable() {
        for (bytes, said) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (184_320, "184.3 kB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (10_485_760, "10.5 MB"),
        ] {
            assert_eq!(size(bytes), said);
        }
    }

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(
            time(datetime!(2026-11-20 01:30 +05:30)),
            "19 November 2026, 20:00 UTC"
        );
    }

    proptest! {
        #[test]
        fn a_line_never_breaks(text in any::<String>()) {
            let line = one_line(&text);
            prop_assert!(!line.contains(char::is_control));
            prop_assert!(!line.contains(visitor::invisible::is_invisible));
            prop_assert!(line.chars().count() <= 161);
        }
    }
}
