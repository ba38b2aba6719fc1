//! Sequences of `name="value"`, as in the attributes of an element or in an XML declaration.

/// White space: XML 1.0, 2.3, production 3. Unlike in Rust, a form feed is not white space.
pub(super) const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// A name and its value. Neither has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<'a> {
    pub key: &'a str,
    /// The text between the quotes.
    pub value: &'a str,
}

/// Iterates over the pairs of a text, each of which is preceded by white space: XML 1.0, productions 10, 24 to 26, 32
/// and 41. The iteration ends after the first error, which is a phrase for a finding.
#[derive(Debug)]
pub(super) struct Pairs<'a>(pub &'a str);

impl<'a> Pairs<'a> {
    fn pair(&mut self) -> Result<Pair<'a>, &'static str> {
        let from = self.0.trim_start_matches(SPACE);
        if from.len() == self.0.len() {
            return Err("no white space before an attribute");
        }
        let (key, after) = from.split_once('=').ok_or("an attribute without a value")?;
        let after = after.trim_start_matches(SPACE);
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let quote = quote.ok_or("an attribute whose value has no quotes")?;
        let (value, rest) = after[1..].split_once(quote).ok_or("an attribute without its closing quote")?;
        self.0 = rest;
        Ok(Pair { key: key.trim_end_matches(SPACE), value })
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Result<Pair<'a>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.trim_start_matches(SPACE).is_empty() {
            return None;
        }
        let pair = self.pair();
        if pair.is_err() {
            self.0 = "";
        }
        Some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_need_white_space_before_them_and_quotes_around_values() {
        let pairs = |text| Pairs(text).collect::<Result<Vec<_>, _>>();
        let pair = |key, value| Pair { key, value };
        assert_eq!(pairs(""), Ok(vec![]));
        assert_eq!(pairs(" \t\r\n"), Ok(vec![]));
        assert_eq!(pairs(" a='1\"' b\n=\t\"=' \" "), Ok(vec![pair("a", "1\""), pair("b", "=' ")]));
        for wrong in ["a='1'", " a='1'b='2'", " a", " a=", " a=1", " a='1", " a='1' \u{c}", "\u{c}"] {
            assert!(pairs(wrong).is_err(), "{wrong:?}");
        }
    }
}
