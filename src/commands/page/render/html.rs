//! HTML without injection: markup consists of literals of this program, and everything else is escaped.

use std::fmt::Write;

use crate::error::{Message, Setting};
use crate::escape::is_printable;
use crate::words::grouped;

/// Returns the name of a setting, with its value if there is one, in the words of a front end.
pub type SettingNames = fn(Setting, Option<&str>) -> String;

/// Names a setting by its field in a job: `scope: host`.
pub fn field_name(setting: Setting, value: Option<&str>) -> String {
    match value {
        Some(value) => format!("{}: {value}", setting.field()),
        None => setting.field().into(),
    }
}

/// Maximum number of characters of a path, URL or value.
pub const TEXT_CHARS_MAX: usize = 160;

/// Maximum number of characters of a message.
pub const MESSAGE_CHARS_MAX: usize = 1_000;

/// The narrow no-break space between a number and its unit.
const THIN_SPACE: char = '\u{202f}';

/// HTML under construction. [`Html::raw`] takes markup, and only literals; all other functions escape what they add.
#[derive(Debug)]
pub struct Html {
    text: String,
    /// Returns the names of settings.
    names: SettingNames,
}

impl Html {
    /// Creates an empty page. `names` returns the names of settings.
    pub fn new(names: SettingNames) -> Self {
        Self { text: String::new(), names }
    }

    /// Adds markup.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Adds text, escaped for content and for quoted attributes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        text.chars().for_each(|c| self.push(c));
        self
    }

    /// Adds text, cut after `chars_max` characters.
    pub fn cut(&mut self, text: &str, chars_max: usize) -> &mut Self {
        let mut chars = text.chars();
        chars.by_ref().take(chars_max).for_each(|c| self.push(c));
        if chars.next().is_some() {
            self.text.push('…');
        }
        self
    }

    /// Adds a message, cut after `chars_max` characters. Text between backticks, such as a setting, is shown as code. The pieces of
    /// the message make no other difference, because JSON does not have them.
    pub fn message(&mut self, message: &Message, chars_max: usize) -> &mut Self {
        let text = message.text_with(&|setting, value| format!("`{}`", (self.names)(setting, value)));
        let end = text.char_indices().nth(chars_max).map_or(text.len(), |(end, _)| end);
        for (at, part) in text[..end].split('`').enumerate() {
            let (begin, end) = if at % 2 == 1 { ("<code>", "</code>") } else { ("", "") };
            self.raw(begin).text(part).raw(end);
        }
        self.raw(if end < text.len() { "…" } else { "" })
    }

    /// Adds the name of a setting as code.
    pub fn setting(&mut self, setting: Setting) -> &mut Self {
        let name = (self.names)(setting, None);
        self.raw("<code>").cut(&name, TEXT_CHARS_MAX).raw("</code>")
    }

    /// Adds a number, its digits in groups of three.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.text.push_str(&grouped(number));
        self
    }

    /// Adds a number and what it counts.
    pub fn count(&mut self, number: u64, one: &'static str, many: &'static str) -> &mut Self {
        self.number(number).raw(if number == 1 { one } else { many })
    }

    /// Adds a W3C Datetime. The form that sitemill writes is shown as `2026-11-20 02:00 UTC`.
    pub fn time(&mut self, time: &str) -> &mut Self {
        let parts = time.strip_suffix('Z').and_then(|time| time.split_once('T'));
        let parts = parts.filter(|(date, clock)| date.len() == 10 && clock.len() == 8 && time.is_ascii());
        self.raw("<time>");
        match parts {
            Some((date, clock)) => self.text(date).raw(" ").text(&clock[..5]).raw("\u{202f}UTC"),
            None => self.cut(time, 40),
        };
        self.raw("</time>")
    }

    /// Adds a number with at most two decimals, for coordinates.
    pub fn coordinate(&mut self, number: f64) -> &mut Self {
        let text = format!("{number:.2}");
        self.text.push_str(text.trim_end_matches('0').trim_end_matches('.'));
        self
    }

    /// Adds a share of a whole in per cent. Only an empty share is shown as 0, and only a complete one as 100.
    pub fn percent(&mut self, part: u64, whole: u64) -> &mut Self {
        let percent = part as f64 * 100.0 / whole.max(1) as f64;
        let text = match percent {
            _ if part == 0 => "0".into(),
            _ if part == whole => "100".into(),
            ..0.1 => "&lt;0.1".into(),
            99.9.. => "&gt;99.9".into(),
            _ => format!("{percent:.1}"),
        };
        self.text.push_str(&text);
        self.raw("\u{202f}%")
    }

    /// Adds `by` as a percentage of `before`. Changes beyond tenfold are not given exactly.
    pub fn growth(&mut self, by: u64, before: u64) -> &mut Self {
        let percent = by as f64 * 100.0 / before.max(1) as f64;
        let text = match percent {
            ..0.1 => "&lt;0.1".into(),
            1_000.05.. => "&gt;1,000".into(),
            _ => format!("{percent:.1}"),
        };
        self.text.push_str(&text);
        self.raw("\u{202f}%")
    }

    /// Adds a number of bytes.
    pub fn bytes(&mut self, bytes: u64) -> &mut Self {
        const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
        if bytes < 1024 {
            return self.number(bytes).raw("\u{202f}B");
        }
        let (mut size, mut unit) = (bytes as f64 / 1024.0, 0);
        while size >= 1023.95 && unit + 1 < UNITS.len() {
            size /= 1024.0;
            unit += 1;
        }
        let _ = write!(self.text, "{size:.1}{THIN_SPACE}{}", UNITS[unit]);
        self
    }

    /// Adds a time in seconds.
    pub fn seconds(&mut self, seconds: f64) -> &mut Self {
        let _ = match seconds {
            ..1.0 => write!(self.text, "{:.0}{THIN_SPACE}ms", seconds * 1e3),
            ..120.0 => write!(self.text, "{seconds:.1}{THIN_SPACE}s"),
            _ => write!(self.text, "{:.0}{THIN_SPACE}min", seconds / 60.0),
        };
        self
    }

    /// Returns the number of bytes so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text.
    pub fn into_string(self) -> String {
        self.text
    }

    fn push(&mut self, c: char) {
        match c {
            '&' => self.text.push_str("&amp;"),
            '<' => self.text.push_str("&lt;"),
            '>' => self.text.push_str("&gt;"),
            '"' => self.text.push_str("&quot;"),
            '\'' => self.text.push_str("&#39;"),
            // Text that is already escaped contains backslashes, which need no escaping here.
            '\\' => self.text.push(c),
            _ if is_printable(c) => self.text.push(c),
            // Control characters, line ends, and characters that change the direction of text.
            _ => {
                let _ = write!(self.text, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::message;

    fn check(add: impl Fn(&mut Html), want: &str) {
        let mut html = Html::new(field_name);
        add(&mut html);
        assert_eq!(html.into_string(), want);
    }

    #[test]
    fn no_character_of_a_text_is_markup() {
        check(
            |html| _ = html.text("</script><img src=x onerror='a' b=\"&\">"),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a&#39; b=&quot;&amp;&quot;&gt;",
        );
        check(|html| _ = html.text("a\0b\u{202e}c\nd\u{85}"), "a\\u{0}b\\u{202e}c\\u{a}d\\u{85}");
        check(|html| _ = html.text("bücher 日本 \\x00"), "bücher 日本 \\x00");
        for c in (0..=0x2_ffff).filter_map(char::from_u32) {
            let mut html = Html::new(field_name);
            html.text(&c.to_string());
            let text = html.into_string();
            assert!(!text.contains(['<', '>', '"', '\'', '\0', '\n', '\u{2028}', '\u{202e}']), "{c:?}");
        }
    }

    #[test]
    fn a_message_shows_settings_as_code_in_the_words_of_the_front_end() {
        let hint = message!("a<b; use ", Setting::Scope.with("<host>"), " or ", Setting::BaseUrl);
        check(
            |html| _ = html.message(&hint, 99),
            "a&lt;b; use <code>scope: &lt;host&gt;</code> or <code>base_url</code>",
        );
        check(|html| _ = html.message(&hint, 15), "a&lt;b; use <code>scope</code>…");
        let mut html = Html::new(|setting, _| format!("--{}", setting.field()));
        html.message(&hint, 99).raw(" ").setting(Setting::Keep);
        let want = "a&lt;b; use <code>--scope</code> or <code>--base_url</code> <code>--keep</code>";
        assert_eq!(html.into_string(), want);
    }

    #[test]
    fn a_text_is_cut_between_characters_and_never_in_an_entity() {
        check(|html| _ = html.cut("日本<日本", 3), "日本&lt;…");
        check(|html| _ = html.cut("日本<", 3), "日本&lt;");
    }

    #[test]
    fn numbers_are_short_and_never_say_more_than_is_known() {
        check(|html| _ = html.number(1_234_567), "1,234,567");
        check(
            |html| _ = html.coordinate(12.5).raw(" ").coordinate(100.0).raw(" ").coordinate(0.004),
            "12.5 100 0",
        );
        for (part, whole, want) in [
            (0, 0, "0"),
            (0, 9, "0"),
            (1, 3, "33.3"),
            (1, 100_000, "&lt;0.1"),
            (99_999, 100_000, "&gt;99.9"),
            (7, 7, "100"),
        ] {
            check(|html| _ = html.percent(part, whole), &format!("{want}\u{202f}%"));
        }
        for (bytes, want) in
            [(1023, "1,023 B"), (1024, "1.0 KiB"), (1 << 20, "1.0 MiB"), (u64::MAX, "16384.0 PiB")]
        {
            check(|html| _ = html.bytes(bytes), &want.replace(' ', "\u{202f}"));
        }
        for (seconds, want) in [(0.25, "250 ms"), (1.5, "1.5 s"), (600.0, "10 min")] {
            check(|html| _ = html.seconds(seconds), &want.replace(' ', "\u{202f}"));
        }
    }
}
