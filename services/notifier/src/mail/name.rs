//! Checks whether an entered name looks like a name. Anyone can enter a stranger's address, so a name must
//! not carry a link, a telephone number or an advertisement to that address.

use icu_properties::{
    CodePointMapData,
    props::{GeneralCategory, GeneralCategoryGroup, Script},
    script::ScriptWithExtensions,
};

const MAX_CHARACTERS: usize = 40;
const MAX_WORDS: usize = 4;
/// Text with more hyphens is a sentence.
const MAX_HYPHENS: usize = 3;
/// Longer East Asian text is a sentence, because these scripts write no spaces.
const MAX_EAST_ASIAN_CHARACTERS: usize = 16;
/// Maximum of Chinese and Japanese numerals in a name; telephone numbers have more.
const MAX_NUMERALS: usize = 5;
const NUMERALS: &str = "零一二三四五六七八九十百千壹貳贰參叁肆伍陸陆柒捌玖拾幺两兩";
/// Letters that look like a full stop.
const DOTS: [char; 3] = ['\u{1427}', '\u{a78f}', '\u{4e36}'];
/// No script needs more marks on a letter; stacked marks cover neighbouring lines.
const MAX_MARKS_OF_A_LETTER: usize = 4;

/// Scripts that one word may mix (UTS 39, 5.1).
const EAST_ASIAN: [Script; 5] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Hangul,
    Script::Bopomofo,
];

/// Scripts that need the joiners U+200C and U+200D (UAX 31, 2.3). Elsewhere these are invisible.
const JOINING: [Script; 11] = [
    Script::Arabic,
    Script::Bengali,
    Script::Devanagari,
    Script::Gujarati,
    Script::Gurmukhi,
    Script::Kannada,
    Script::Malayalam,
    Script::Oriya,
    Script::Sinhala,
    Script::Tamil,
    Script::Telugu,
];

/// A name of letters, marks, apostrophes, hyphens and initials: at most 40 characters and four words.
#[derive(Debug, PartialEq, Eq)]
pub struct PlainName(String);

impl PlainName {
    pub fn parse(entered: &str) -> Option<Self> {
        let words: Vec<&str> = entered.split_whitespace().collect();
        let name = words.join(" ");
        let count = |wanted: fn(char) -> bool| name.chars().filter(|c| wanted(*c)).count();
        let is_plain = (1..=MAX_WORDS).contains(&words.len())
            && count(|_| true) <= MAX_CHARACTERS
            && count(is_hyphen) <= MAX_HYPHENS
            && count(is_east_asian) <= MAX_EAST_ASIAN_CHARACTERS
            && count(|c| NUMERALS.contains(c)) <= MAX_NUMERALS
            && words.iter().flat_map(|word| word.split(is_hyphen)).all(is_part);
        is_plain.then_some(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<PlainName> for String {
    fn from(name: PlainName) -> Self {
        name.0
    }
}

/// A word, or initials with full stops. "x.com" is neither.
fn is_part(part: &str) -> bool {
    match part.strip_suffix('.') {
        Some(initials) => initials.split('.').all(|initial| {
            let letters = initial.chars().filter(|c| is_letter(*c)).count();
            letters == 1 && is_word(initial)
        }),
        None => is_word(part),
    }
}

/// Letters of one script with marks and apostrophes. Letters of no script, such as mathematical bold, are rejected.
fn is_word(word: &str) -> bool {
    let characters: Vec<char> = word.chars().filter(|c| !is_apostrophe(*c)).collect();
    let Some(first) = characters.first().copied() else {
        return false;
    };
    let script = ScriptWithExtensions::new().get_script_val(first);
    let fits = |c: char| match c {
        '\u{200c}' | '\u{200d}' => JOINING.contains(&script),
        _ => (is_letter(c) || is_mark(c)) && is_written_with(c, script),
    };
    let is_pile = |run: &[char]| run.len() > MAX_MARKS_OF_A_LETTER;
    is_letter(first)
        && category(first) != GeneralCategory::ModifierLetter
        && script != Script::Common
        && characters.iter().all(|c| fits(*c))
        && !characters.split(|c| is_letter(*c)).any(is_pile)
}

fn is_written_with(c: char, script: Script) -> bool {
    let scripts = ScriptWithExtensions::new();
    scripts.has_script(c, script)
        || scripts.get_script_extensions_val(c).contains(&Script::Inherited)
        || EAST_ASIAN.contains(&script) && is_east_asian(c)
}

fn is_east_asian(c: char) -> bool {
    let scripts = ScriptWithExtensions::new();
    EAST_ASIAN.iter().any(|script| scripts.has_script(c, *script))
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

fn is_letter(c: char) -> bool {
    GeneralCategoryGroup::Letter.contains(category(c)) && !DOTS.contains(&c)
}

/// Whether the character is a combining mark, except invisible marks (fillers and variation selectors).
fn is_mark(c: char) -> bool {
    let is_unseen = visitor::invisible::is_invisible(c) || visitor::invisible::shapes_others(c);
    let marks = [GeneralCategory::NonspacingMark, GeneralCategory::SpacingMark];
    marks.contains(&category(c)) && !is_unseen
}

/// Straight, curly and modifier apostrophes, half rings of transliterated Arabic, and Hebrew's geresh.
fn is_apostrophe(c: char) -> bool {
    matches!(
        c,
        '\'' | '\u{2018}' | '\u{2019}' | '\u{2bb}'..='\u{2bf}' | '\u{5f3}'
    )
}

/// Keyboard and typographic hyphens, and Hebrew's maqaf.
fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}' | '\u{2011}' | '\u{5be}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: &str = "\
        Asha | Asha Rao | Zoë Müller-Ångström | Ana Sofía Gómez | José María García-López | \
        João da Silva Sousa | O'Brien | O’Brien | Niamh O\u{2018}Neill | D’Angelo D'Arcy | 't Hooft | \
        Jean-Luc Picard | Jean\u{2011}Luc | J.-P. Sartre | Abd-al-Rahman al-Sufi | J. R. R. Tolkien | \
        J.R.R. Tolkien | A.P.J. Abdul Kalam | M S Dhoni | Asha R. | van der Berg | Ludwig van Beethoven | \
        McDonald | Þórdís Björk Guðmundsdóttir | Łukasz Żółć | Nguyễn Thị Minh Khai | \
        Nguye\u{302}\u{303}n Thi\u{323} Minh Khai | Trần Hưng Đạo | Kekuʻiapoiwa | ʿAlī ibn Abī Ṭālib | \
        Анна-Мария Иванова | Лев Николаевич Толстой | Ελένη Παπαδοπούλου | Արամ Խաչատրյան | \
        შოთა რუსთაველი | محمد عبد الله | مُحَمَّد | علی\u{200c}رضا | דוד בן־גוריון | ז׳בוטינסקי | 王小明 | \
        歐陽娜娜 | 佐々木 三郎 | 五十嵐 三千代 | 山田\u{3000}太郎 | サーバー クリストファー | さくら | 안중근 | 金철수 | நரேந்திரன் | ஆஷா ராவ் | \
        ஆ. ராவ் | सीता देवी | শেখ মুজিবুর রহমান | ആശ ജോൺ\u{200d} | ශ්\u{200d}රී ලංකා | สมชาย ใจดี | \
        ကျော်သူ | សុខ ស្រីមុំ | አበበ ቢቂላ";

    const NO_NAMES: &[&str] = &[
        // nothing but a sign
        "\
         - | ' | .",
        // links, and characters that look like full stops
        "\
         casino.example | Win now at casino.example | x.com | t.me | J.R | J..R. | www.a.b | \
         casino\u{2024}example | casino\u{3002}example | casino\u{ff0e}example | casino\u{fe52}example | \
         casino\u{ff61}example | casino\u{b7}example | casino\u{30fb}example | casino\u{6d4}example | \
         casino\u{a4f8}example | casino\u{a60e}example | casino\u{1d16d}example | casino\u{a78f}example | \
         casino \u{1427} example | casino \u{4e36} example | casino \u{a4f8} example | \
         casino\u{30ce}example | casino\u{3033}example | casino\u{4e3f}example | J\u{2024} Tolkien | \
         Prof. Rao | https://casino.example | casino/example | casino\u{2044}example | \
         casino\u{2215}example | casino\u{ff0f}example | casino\\example | me@casino | me\u{ff20}casino | \
         me\u{fe6b}casino | casino: | casino\u{a789} | #win | a=b | 100% | <b>Asha</b> | \"Asha\" | \
         =?utf-8?B?Q0VP?= | Asha, Rao | Asha & Ravi | Win! | Win\u{ff01} | Asha (CEO) | Asha_Rao | \
         Asha+Rao | $ave | €uro | Asha 🎉 | \u{1f1eb}\u{1f1f7} | \u{24b6}sha | \u{1d400}sha | \
         \u{1d416}\u{1d422}\u{1d427} | ™",
        // digits
        "\
         +91 98400 00000 | Call 0800 123456 | Asha 2 | 0\u{2011}800 | \u{660}\u{661}\u{662} | \
         \u{966}\u{967} | \u{ff11}\u{ff12} | Asha\u{b2} | Asha \u{2163} | \u{3007} | \u{2460} | \
         \u{1d7d8} | 一三八〇〇一三八〇〇〇 | 致电 四零零 八二零 八八二零",
        // invisible characters
        "\
         As\u{200b}ha | As\u{200c}ha | As\u{200d}ha | As\u{2060}ha | As\u{ad}ha | As\u{34f}ha | \
         As\u{fe0f}ha | \u{202e}ahsA | Asha\u{3164} | \u{feff}Asha | 王\u{200d}明",
        // marks without a letter, and stacked marks
        "\
         \u{301}Asha | a\u{301}\u{302}\u{303}\u{304}\u{305} | ก็็็็็ | a\u{20dd}",
        // several scripts in one word
        "\
         c\u{430}sino | Αsha | O王",
        // sentences
        "\
         Click here to win now | Click-here-to-win-now | 恭喜您中奖请访问我们的网站领取您的奖金 | Asha\u{0}Rao | Asha\u{7f}",
    ];

    #[test]
    fn names_of_people_are_repeated_in_every_script() {
        for name in NAMES.split(" | ") {
            let shown = name.replace('\u{3000}', " ");
            assert_eq!(PlainName::parse(name).map(String::from), Some(shown));
        }
    }

    #[test]
    fn text_that_is_no_plain_name_is_refused() {
        let entered = NO_NAMES.iter().flat_map(|kind| kind.split(" | "));
        for entered in entered.chain(["", " "]) {
            assert_eq!(PlainName::parse(entered), None, "{entered:?}");
        }
    }

    #[test]
    fn the_longest_name_has_40_characters_on_one_line() {
        let longest = "x".repeat(40);
        assert_eq!(PlainName::parse(&format!("{longest}x")), None);
        assert_eq!(PlainName::parse(&longest).map(String::from), Some(longest));
        assert_eq!(
            PlainName::parse(" Asha \r\n Rao\u{a0}").map(String::from),
            Some("Asha Rao".to_owned())
        );
    }

    proptest! {
        #[test]
        fn a_plain_name_has_no_digits_or_link_characters(entered in "(\\PC|[A-Za-z.' -]){0,44}") {
            if let Some(name) = PlainName::parse(&entered) {
                prop_assert!(!name.0.contains(|c: char| c.is_numeric() || c.is_control() || "/\\:@<>#%=&?\"".contains(c)), "{name:?}");
                prop_assert_eq!(PlainName::parse(&name.0), Some(name));
            }
        }
    }
}
