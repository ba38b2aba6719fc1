//! Text as typed into a shell.

/// Characters that a shell does not read as part of a plain word.
const SHELL_CHARACTERS: &[char] = &[
    ' ', '\'', '"', '\\', '`', '$', '&', '|', ';', '<', '>', '(', ')', '{', '}', '[', ']', '*', '?', '!',
    '#', '~',
];

/// Returns `text` as a word, in quotes if it needs them.
pub fn word(text: &str) -> String {
    if text.contains(|character: char| character.is_ascii_control()) {
        let escaped: String = text.chars().map(escaped).collect();
        return format!("$'{escaped}'");
    }
    let is_plain = !text.contains(SHELL_CHARACTERS);
    if is_plain { text.into() } else { format!("'{}'", in_quotes(text)) }
}

/// Returns `text`, which has no control characters, as part of a word in single quotes.
pub fn in_quotes(text: &str) -> String {
    text.replace('\'', r"'\''")
}

/// Returns `character` as part of a word in `$'…'`.
fn escaped(character: char) -> String {
    match character {
        '\'' | '\\' => format!("\\{character}"),
        _ if character.is_ascii_control() => format!("\\x{:02x}", u32::from(character)),
        _ => character.into(),
    }
}
