//! The parts of Rust's syntax that the structure rules need: tokens, imports and the lengths of functions.

/// A word, `::`, or any other single character outside of comments, strings and character literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'s> {
    pub text: &'s str,
    /// Counted from 1.
    pub line: usize,
}

/// A path that code names, in a `use` or inline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import<'s> {
    pub path: Vec<&'s str>,
    pub line: usize,
    pub is_use: bool,
}

/// A function with a body, and the lines from its `fn` to its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub struct Function<'s> {
    pub name: &'s str,
    pub line: usize,
    pub lines: usize,
}

/// The tokens of `source`, without items that are compiled only for tests.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    without_tests(&all_tokens(source, false))
}

/// The string literals of `source`, without those of items that are built for tests only.
pub fn strings(source: &str) -> Vec<Token<'_>> {
    let mut tokens = without_tests(&all_tokens(source, true));
    tokens.retain(|token| token.text.len() > 1 && token.text.contains('"'));
    tokens
}

fn all_tokens(source: &str, with_strings: bool) -> Vec<Token<'_>> {
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (length, is_token) = match (skipped(rest), word) {
            (Some(length), _) => (length, with_strings && !rest.starts_with(['/', '\''])),
            (None, 0) if rest.starts_with("::") => (2, true),
            (None, 0) => (first.len_utf8(), !first.is_whitespace()),
            (None, word) => (word, true),
        };
        if is_token {
            tokens.push(Token { text: &rest[..length], line });
        }
        line += rest[..length].matches('\n').count();
        at += length;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the comment or literal that `rest` starts with.
fn skipped(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment(rest));
    }
    if let Some(inner) = rest.strip_prefix('\'') {
        return character(inner).map(|length| length + 1);
    }
    let prefix = ["br", "cr", "b", "c", "r", ""].into_iter().find(|prefix| {
        let inner = rest.strip_prefix(prefix).map(|inner| inner.trim_start_matches('#'));
        inner.is_some_and(|inner| inner.starts_with('"'))
    })?;
    let inner = &rest[prefix.len()..];
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    let body = prefix.len() + hashes + 1;
    let is_raw = prefix.ends_with('r');
    (is_raw || hashes == 0).then(|| body + string(&rest[body..], is_raw, hashes))
}

/// The length of a comment, including nested ones.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    for (at, _) in rest.char_indices() {
        depth += i32::from(rest[at..].starts_with("/*"));
        depth -= i32::from(rest[at..].starts_with("*/"));
        if depth == 0 {
            return at + 2;
        }
    }
    rest.len()
}

/// The length of a character literal after its first quote. `None` for a lifetime.
fn character(inner: &str) -> Option<usize> {
    let mut chars = inner.char_indices();
    match chars.next()?.1 {
        '\\' => Some(inner[2..].find('\'')? + 3),
        _ => chars.next().filter(|&(_, c)| c == '\'').map(|(at, _)| at + 1),
    }
}

/// The length of a string after its first quote.
fn string(body: &str, is_raw: bool, hashes: usize) -> usize {
    let end = format!("\"{}", "#".repeat(hashes));
    let mut is_escaped = false;
    for (at, c) in body.char_indices() {
        if !is_escaped && body[at..].starts_with(&end) {
            return at + end.len();
        }
        is_escaped = !is_raw && !is_escaped && c == '\\';
    }
    body.len()
}

fn without_tests<'s>(tokens: &[Token<'s>]) -> Vec<Token<'s>> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let texts: Vec<_> = tokens[at..].iter().take(7).map(|token| token.text).collect();
        if texts == ["#", "[", "cfg", "(", "test", ")", "]"] {
            at = item_end(tokens, at + texts.len());
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// The end of the item that begins at `at`: after its `;` or closing brace.
fn item_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    let mut is_use = false;
    while at < tokens.len() {
        match tokens[at].text {
            "(" | "[" => at = group_end(tokens, at),
            "{" if is_use => at = group_end(tokens, at),
            "{" => return group_end(tokens, at),
            ";" => return at + 1,
            text => {
                at += 1;
                // `impl Trait + use<'a>` is not an import.
                is_use |= text == "use" && tokens.get(at).is_some_and(|next| next.text != "<");
            }
        }
    }
    at
}

/// The position after the bracket that closes the one at `open`.
fn group_end(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Every path in a `use`, with groups expanded, and every inline path of two or more segments.
pub fn imports<'s>(tokens: &[Token<'s>]) -> Vec<Import<'s>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let [token, next] = [at, at + 1].map(|at| tokens.get(at).map_or("", |token| token.text));
        if token == "(" && next == "in" {
            // `pub(in crate::a)` limits visibility and imports nothing.
            at = group_end(tokens, at);
        } else if token == "use" && next != "<" {
            at = use_tree(tokens, at + 1, &[], &mut found);
        } else if token.starts_with(is_word) && next == "::" {
            let mut import = Import { path: vec![token], line: tokens[at].line, is_use: false };
            at += 1;
            while let [colons, word, ..] = &tokens[at..]
                && colons.text == "::"
                && word.text.starts_with(is_word)
            {
                import.path.push(word.text);
                at += 2;
            }
            found.push(import);
        } else {
            at += 1;
        }
    }
    found
}

/// Adds the paths of the tree at `at`, each below `prefix`. Returns the position after the tree.
fn use_tree<'s>(
    tokens: &[Token<'s>],
    mut at: usize,
    prefix: &[&'s str],
    found: &mut Vec<Import<'s>>,
) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        match token.text {
            "{" => {
                let end = group_end(tokens, at);
                at += 1;
                while at < end - 1 {
                    at = use_tree(tokens, at, &path, found);
                    at += usize::from(tokens[at].text == ",");
                }
                return end;
            }
            "," | "}" | ";" | "as" => {
                found.push(Import { path, line: tokens[at - 1].line, is_use: true });
                // A new name is one token.
                return at + if token.text == "as" { 2 } else { 0 };
            }
            "::" => at += 1,
            word => {
                path.push(word);
                at += 1;
            }
        }
    }
    at
}

/// Every function that has a body.
pub fn functions<'s>(tokens: &[Token<'s>]) -> Vec<Function<'s>> {
    let starts = (0..tokens.len().saturating_sub(1))
        .filter(|&at| tokens[at].text == "fn" && tokens[at + 1].text.starts_with(is_word));
    let with_body = starts.filter_map(|at| {
        let end = item_end(tokens, at);
        let last = tokens[end - 1];
        let (name, line) = (tokens[at + 1].text, tokens[at].line);
        (last.text == "}").then_some(Function { name, line, lines: last.line - line + 1 })
    });
    with_body.collect()
}
