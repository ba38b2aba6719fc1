//! XML names: allowed characters, and the position of the colon.

/// The result of checking a name against XML and against namespaces in XML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// A local name, with or without a prefix: Namespaces in XML, 4.
    Qualified,
    /// A name with too many colons, or with one in the wrong place.
    Colons,
    /// Not a name: XML 1.0, 2.3, production 5.
    Not,
}

impl Name {
    /// Whether `name` is a name at all.
    pub fn is_name(name: &str) -> bool {
        Self::of(name) != Self::Not
    }

    /// Classifies `name`.
    #[inline]
    pub fn of(name: &str) -> Self {
        let mut characters = name.chars();
        if !(characters.next().is_some_and(is_start) && characters.all(is_part)) {
            return Self::Not;
        }
        let is_local = |local: &str| !local.contains(':') && local.starts_with(is_start);
        let is_qualified = match name.split_once(':') {
            Some((prefix, local)) => !prefix.is_empty() && is_local(local),
            None => true,
        };
        if is_qualified { Self::Qualified } else { Self::Colons }
    }
}

/// Returns whether a name may start with `c`: production 4.
fn is_start(c: char) -> bool {
    matches!(c,
        ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// Returns whether a name may contain `c`: production 4a.
fn is_part(c: char) -> bool {
    is_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_lookalikes() {
        for name in ["loc", "a-b.c_1", "ü", "image:loc", "_", "a\u{b7}"] {
            assert_eq!(Name::of(name), Name::Qualified, "{name}");
        }
        for name in [":", ":a", "a:", "a:b:c", "a:1", "a:-b"] {
            assert_eq!(Name::of(name), Name::Colons, "{name}");
        }
        for name in ["", "1", "-a", ".a", "a b", "a\"", "a/", "a=b", "\u{b7}a", "\u{d7}", "a\u{37e}", "a\0"] {
            assert_eq!(Name::of(name), Name::Not, "{name}");
        }
    }
}
