//! Messages: texts that point at settings, for programs with fields and for command lines with flags.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::setting::Setting;
use super::shown::{Shown, path_without_secrets};

/// A message for users: text, paths, and references to settings.
///
/// [`Display`](fmt::Display) names settings as fields ([`Setting::field`]), which suits Rust and most bindings:
/// ``no memory for 512 more bytes; lower `memory`, or use fewer `threads` ``. A setting with a value is written as
/// `` `memory: 2GiB` ``. Another front end can write settings in its own way with [`Message::text_with`]. In JSON a message is
/// the text that `Display` writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    pieces: Vec<Piece>,
}

/// A piece of a [`Message`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// Words.
    Text(String),
    /// A path. It is shown with its control characters escaped. In messages of sitemill, a URL has no user name, password, fragment
    /// or query, which may be secrets.
    Path(PathBuf),
    /// A setting, and the value that it has or should have.
    Setting(Setting, Option<String>),
}

impl Message {
    /// Returns the pieces in their order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the settings that the message points at, in the order in which it names them.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Setting(setting, _) => Some(*setting),
            Piece::Text(_) | Piece::Path(_) => None,
        })
    }

    /// Returns the first path that the message names; a URL without what may be secret.
    pub fn path(&self) -> Option<&Path> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Path(path) => Some(path.as_path()),
            Piece::Text(_) | Piece::Setting(..) => None,
        })
    }

    /// Formats the message. `name` returns the text for a setting and its value in the message, if it has one.
    ///
    /// ```
    /// use sitemill::{ErrorKind, Job};
    ///
    /// let mut job = Job::new(vec!["urls.txt".into()], "https://www.example.com/".parse()?, "out".into());
    /// job.rules.urls_per_sitemap = 0;
    /// let error = job.check().unwrap_err();
    /// assert_eq!(error.to_string(), "`urls_per_sitemap: 0`: protocol 0.9 allows 1 to 50,000");
    ///
    /// let as_variable = |setting: sitemill::Setting, value: Option<&str>| {
    ///     format!("{}={}", setting.field().to_uppercase(), value.unwrap_or("…"))
    /// };
    /// let shown = error.message().text_with(&as_variable);
    /// assert_eq!(shown, "URLS_PER_SITEMAP=0: protocol 0.9 allows 1 to 50,000");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text_with(&self, name: &dyn Fn(Setting, Option<&str>) -> String) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(words) => text.push_str(words),
                Piece::Path(path) => text.push_str(&Shown(path).to_string()),
                Piece::Setting(setting, value) => text.push_str(&name(*setting, value.as_deref())),
            }
        }
        text
    }

    pub(crate) fn push(&mut self, piece: Piece) {
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
            (_, piece) => self.pieces.push(piece),
        }
    }

    pub(crate) fn push_text(&mut self, text: fmt::Arguments<'_>) {
        self.push(Piece::Text(text.to_string()));
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text_with(&|setting, value| match value {
            Some(value) => format!("`{}: {value}`", setting.field()),
            None => format!("`{}`", setting.field()),
        }))
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The text of a message without references to settings.
impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Into::into)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self { pieces: vec![Piece::Text(text)] }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl FromIterator<Piece> for Message {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        let mut message = Self::default();
        pieces.into_iter().for_each(|piece| message.push(piece));
        message
    }
}

impl From<Piece> for Message {
    fn from(piece: Piece) -> Self {
        Self { pieces: vec![piece] }
    }
}

impl From<Setting> for Message {
    fn from(setting: Setting) -> Self {
        Piece::Setting(setting, None).into()
    }
}

impl Setting {
    /// Returns the setting with a value, as a piece of a message: either its current value or one that would help.
    pub fn with(self, value: impl ToString) -> Piece {
        Piece::Setting(self, Some(value.to_string()))
    }
}

/// A piece that [`message!`] accepts besides texts.
pub(crate) trait AddToMessage {
    fn add_to(self, message: &mut Message);
}

impl AddToMessage for Message {
    fn add_to(self, message: &mut Message) {
        self.pieces.into_iter().for_each(|piece| message.push(piece));
    }
}

impl AddToMessage for &Message {
    fn add_to(self, message: &mut Message) {
        self.clone().add_to(message);
    }
}

impl AddToMessage for Piece {
    fn add_to(self, message: &mut Message) {
        message.push(self);
    }
}

impl AddToMessage for Setting {
    fn add_to(self, message: &mut Message) {
        message.push(Piece::Setting(self, None));
    }
}

impl AddToMessage for &Path {
    fn add_to(self, message: &mut Message) {
        message.push(Piece::Path(path_without_secrets(self)));
    }
}

/// Builds a [`Message`] from a sequence of texts, paths, settings and other messages. A text is a format string that captures
/// its arguments: `message!(path, ": line {number}: use ", Setting::Format)`.
macro_rules! message {
    (@add $message:ident $(,)?) => {};
    (@add $message:ident $text:literal $(, $($rest:tt)*)?) => {
        $message.push_text(format_args!($text));
        message!(@add $message $($($rest)*)?);
    };
    (@add $message:ident $part:expr $(, $($rest:tt)*)?) => {
        $crate::error::message::AddToMessage::add_to($part, &mut $message);
        message!(@add $message $($($rest)*)?);
    };
    ($($part:tt)+) => {{
        let mut message = $crate::error::message::Message::default();
        message!(@add message $($part)+);
        message
    }};
}
pub(crate) use message;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_shown_with_fields_or_in_the_words_of_a_front_end() {
        let (line, path) = (3, Path::new("in\u{1b}.csv"));
        let inner = message!("or use ", Setting::Columns.with("url=1"));
        let whole =
            message!(path, ": line {line}: set it with ", Setting::Format, ", {{}} ", inner, " of {line}");
        assert_eq!(
            whole.to_string(),
            "in\\x1b.csv: line 3: set it with `format`, {} or use `columns: url=1` of 3"
        );
        let shown = whole.text_with(&|setting, value| format!("<{} {value:?}>", setting.field()));
        assert_eq!(
            shown,
            "in\\x1b.csv: line 3: set it with <format None>, {} or use <columns Some(\"url=1\")> of 3"
        );
        assert_eq!(whole.path(), Some(path));
        assert!(whole.settings().eq([Setting::Format, Setting::Columns]));
        assert_eq!(whole.pieces().len(), 6);
        assert_eq!(serde_json::to_value(&whole).unwrap(), whole.to_string());
        assert_eq!(message!("a", Message::from("b"), "c"), Message::from("abc"));
    }
}
