//! Recognises lines that contain a URL along with other text, and suggests the command that extracts it.

use crate::clean::has_web_scheme;
use crate::error::{Message, Piece, Setting, message};
use crate::escape::unescape;
use crate::intake::format::NEEDS_UNPACKED;
use crate::intake::lines::BYTE_ORDER_MARK;
use crate::intake::report::InputReport;

/// Where a line comes from, which decides how it can be fixed.
#[derive(Debug, Clone)]
pub enum LineSource {
    /// A list of URLs, on which commands for lines work.
    List,
    /// A list of URLs that is compressed.
    PackedList,
    /// Rows of another format, which such commands would damage. Has the words for what to correct, such as `column url`.
    Rows(String),
}

impl LineSource {
    /// Returns the source of the lines of an input. Without one, they are from a list.
    pub fn of(input: Option<&InputReport>) -> Self {
        match input.map(|input| (input.urls_of_rows(), &input.packing)) {
            Some((Some(urls), _)) => Self::Rows(urls),
            Some((None, Some(_))) => Self::PackedList,
            Some((None, None)) | None => Self::List,
        }
    }

    /// What to add to a command that changes lines.
    pub fn note(&self) -> &'static str {
        match self {
            Self::PackedList => NEEDS_UNPACKED,
            Self::List | Self::Rows(_) => "",
        }
    }
}

/// Returns what kind of line this is and how to fix it, or `None` if it is not recognised. `line` is escaped. `site` is the
/// scheme, host and port of the site, without a slash at its end.
pub fn of(line: &str, site: &str, source: &LineSource) -> Option<(&'static str, Message)> {
    of_rejected(line, site, source, &[no_scheme, relative])
}

/// As [`of`], for lines that are rejected because of a control character: what is missing in them is not what is wrong.
pub fn of_damaged(line: &str, site: &str, source: &LineSource) -> Option<(&'static str, Message)> {
    of_rejected(line, site, source, &[])
}

fn of_rejected(
    line: &str,
    site: &str,
    source: &LineSource,
    of_incomplete: &[fn(&str, &str) -> Shape],
) -> Option<(&'static str, Message)> {
    // A comment, or only a fragment; or lines that are not divided.
    if line.starts_with('#') || line.contains(r"\x00") {
        return None;
    }
    let shapes = [after_invisible, quoted, percent_encoded, access_log, markup, column, misspelt_scheme];
    let mut shapes = shapes.iter().chain(of_incomplete);
    let (what, ways) = shapes.find_map(|shape| shape(line, site))?;
    let way_out = match (source, ways) {
        (LineSource::List, Ways { list: Some(way_out), .. }) | (_, Ways { any: Some(way_out), .. }) => {
            way_out
        }
        // What has no setting is a command.
        (LineSource::PackedList, Ways { list: Some(command), .. }) if command.settings().next().is_none() => {
            message!(command, "{NEEDS_UNPACKED}")
        }
        (LineSource::PackedList, Ways { list: Some(way_out), .. }) => way_out,
        (LineSource::Rows(urls), _) => format!("correct {urls} in the export").into(),
        (LineSource::List | LineSource::PackedList, Ways { list: None, any: None }) => return None,
    };
    Some((what, way_out))
}

/// How to fix lines.
struct Ways {
    /// By commands or options for lists, if they are from a list.
    list: Option<Message>,
    /// By options, whatever their format.
    any: Option<Message>,
}

impl Ways {
    fn of_list(way_out: impl Into<Message>) -> Self {
        Self { list: Some(way_out.into()), any: None }
    }

    fn of_any(way_out: Message) -> Self {
        Self { list: None, any: Some(way_out) }
    }
}

type Shape = Option<(&'static str, Ways)>;

/// A URL after characters that are escaped because they are not visible, such as a no-break space, or because they are not UTF-8;
/// or any line after the byte order mark of a joined file.
fn after_invisible(line: &str, _: &str) -> Shape {
    let mut rest = line;
    while let Some(byte) = rest.strip_prefix("\\x") {
        rest = byte.get(2..)?;
    }
    let start = unescape(&line.as_bytes()[..line.len() - rest.len()]);
    (start.starts_with(BYTE_ORDER_MARK) || !start.is_empty() && is_url(rest)).then_some(())?;
    let what = match str::from_utf8(&start) {
        Ok(_) => "preceded by invisible characters",
        Err(_) => "preceded by other characters",
    };
    Some((what, Ways::of_list("remove them: LC_ALL=C sed 's/^[^ -~]*//'")))
}

fn quoted(line: &str, _: &str) -> Shape {
    let (line, indented) = (line.trim_start_matches(' '), line.starts_with(' '));
    let quote = line.chars().next().filter(|&quote| matches!(quote, '"' | '\'' | '`' | '“' | '‘' | '<'))?;
    let rest = &line[quote.len_utf8()..];
    // A path in angle brackets is a tag.
    let is_path = rest.starts_with('/') && quote != '<';
    (is_url(rest) || is_path).then_some(())?;
    let end = match quote {
        '“' => '”',
        '‘' => '’',
        '<' => '>',
        same => same,
    };
    let start = if indented { "^ *" } else { "^" };
    // In single quotes, the shell allows every character except a single quote.
    let sed = |script: String| match quote {
        '\'' => format!("sed \"{script}\""),
        _ => format!("sed '{script}'"),
    };
    // The text after the quoted URL, if the quote is closed.
    let tail = rest.split_once(end).map(|(_, tail)| tail.trim_end_matches(' '));
    let csv = || read_with("csv", 1);
    let way_out = match (quote, tail) {
        ('"', Some("")) if !indented => message!(csv(), ", or remove the quotes: tr -d '\"'"),
        ('"', Some("")) => "remove the quotes: tr -d '\"'".into(),
        ('\'', Some("")) => r#"remove the quotes: tr -d "'""#.into(),
        ('"', Some(tail)) if !indented && tail.starts_with(',') => csv(),
        (_, Some("") | None) => {
            format!("remove them: {}", sed(format!("s/{start}{quote}//; s/{end} *$//"))).into()
        }
        _ => format!("extract the URLs with {}", sed(format!(r"s/{start}{quote}\([^{end}]*\){end}.*/\1/")))
            .into(),
    };
    Some(("in quotes", Ways::of_list(way_out)))
}

/// Percent-encoded URLs such as `https%3A//h.example/a` and `http%253A%252F%252Fh.example`, encoded once or more.
fn percent_encoded(line: &str, _: &str) -> Shape {
    let lower = line.get(..32).unwrap_or(line).to_ascii_lowercase();
    let rest = lower.strip_prefix("http")?;
    let mut rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix('%')?;
    let mut times = 1;
    while let Some(inner) = rest.strip_prefix("25") {
        (rest, times) = (inner, times + 1);
    }
    rest.starts_with("3a").then_some(())?;
    let how_often = match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    };
    let (open, close) = ("u.unquote(".repeat(times), ")".repeat(times));
    let decode = format!(
        "python3 -c 'import sys, urllib.parse as u; [print({open}l{close}, end=\"\") for l in sys.stdin]'"
    );
    Some(("percent-encoded as a whole", Ways::of_list(format!("decode them {how_often}: {decode}"))))
}

/// Lines in the common or combined log format of web servers, after any prefix.
fn access_log(line: &str, origin: &str) -> Shape {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_method = |field: &str| {
        let name = field.strip_prefix('"').unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let method = fields.iter().position(|field| is_method(field))?;
    let path = fields.get(method + 1).filter(|path| path.starts_with('/') || is_url(path))?;
    fields[method + 2..].iter().any(|field| field.starts_with("HTTP/")).then_some(())?;
    // Counted from 1, as in awk.
    let (method, status) = (method + 1, method + 4);
    let url = match is_url(path) {
        true => format!("${}", method + 1),
        false => format!("\"{origin}\" ${}", method + 1),
    };
    let awk = format!("awk '${method} == \"\\\"GET\" && ${status} == 200 {{print {url}}}'");
    Some(("from an access log", Ways::of_list(format!("extract the URLs of pages with {awk}"))))
}

fn markup(line: &str, _: &str) -> Shape {
    let is_markup = line.starts_with('<') && (line.contains(">http") || line.contains("=\"http"));
    // An ampersand is an entity there.
    let grep = r#"grep -o 'https\?://[^<>"]*' | sed 's/&amp;/\&/g'"#;
    is_markup.then(|| {
        let sitemap = Setting::Format.with("sitemap");
        let way_out = message!("if it is a sitemap, set ", sitemap, ", else extract the URLs with {grep}");
        ("markup", Ways::of_list(way_out))
    })
}

/// How to read tables of this format whose URLs are in this column.
fn read_with(format: &str, column: usize) -> Message {
    let columns = Setting::Columns.with(format_args!("url={column}"));
    message!("read the input with ", Setting::Format.with(format), " ", columns)
}

/// A URL in a column other than the first.
fn column(line: &str, _: &str) -> Shape {
    let column = |parts: Vec<&str>| {
        let at = parts.iter().position(|part| is_url(part.trim_start_matches([' ', '"', '\''])))?;
        (at > 0).then_some(at + 1)
    };
    // An escaped tab.
    if let Some(column) = column(line.split(r"\t").collect()) {
        return Some(("in columns", Ways::of_list(read_with("tsv", column))));
    }
    if let Some(column) = column(line.split(',').collect()) {
        return Some(("in columns", Ways::of_list(read_with("csv", column))));
    }
    let column = column(line.split_whitespace().collect())?;
    Some(("in columns", Ways::of_list(format!("extract the URLs with awk '{{print ${column}}}'"))))
}

/// `https//h.example/a`, `http;//h.example/a`: the colon is missing, or is another character.
fn misspelt_scheme(line: &str, _: &str) -> Shape {
    let (start, _) = line.split_once("//")?;
    let lower = start.to_ascii_lowercase();
    let scheme = ["https", "http"].into_iter().find(|scheme| lower.starts_with(scheme))?;
    matches!(&lower[scheme.len()..], "" | ";" | "." | "," | "-" | "_" | " ").then_some(())?;
    let sed = format!("sed 's|^{}//|{scheme}://|'", start.replace('.', "\\."));
    Some(("misspelt", Ways::of_list(format!("correct the scheme: {sed}"))))
}

/// `//h.example/a`, `www.h.example/a`, `h.example:443/a`.
fn no_scheme(line: &str, origin: &str) -> Shape {
    const FILES: [&str; 12] =
        ["html", "htm", "php", "asp", "aspx", "jsp", "xml", "pdf", "txt", "jpg", "png", "cgi"];
    let what = "without a scheme";
    let scheme = origin.split(':').next().unwrap_or("https");
    if line.starts_with("//") {
        return Some((what, Ways::of_any(message!("add the one of the site with ", relative_to(origin)))));
    }
    let host = line.split(['/', '?', '#']).next()?;
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    let last = name.rsplit('.').next()?;
    let is_host = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
        && !port.is_empty()
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && (name.trim_matches('.').contains('.') || (name == "localhost" && host != name))
        && !name.starts_with('.')
        && !FILES.contains(&&*last.to_ascii_lowercase());
    let sed = format!("put one before it: sed 's,^,{scheme}://,'");
    // With a port, the host looks like a scheme, and the line is not relative.
    let any = (host == name).then(|| {
        let rewrite = Setting::Rewrite.with(format_args!("{origin}/{host}/={scheme}://{host}/"));
        message!("add one with ", relative_to(origin), " ", rewrite)
    });
    is_host.then(|| (what, Ways { list: Some(sed.into()), any }))
}

fn relative(line: &str, origin: &str) -> Shape {
    let has_scheme = line.split(['/', '?', '#']).next().is_some_and(|start| start.contains(':'));
    let is_relative = line.starts_with(['/', '.', '?'])
        || !has_scheme && line.contains(['/', '.']) && !line.contains([' ', '\\']);
    let way_out = || message!("URLs must be absolute; resolve them with ", relative_to(origin));
    is_relative.then(|| ("relative", Ways::of_any(way_out())))
}

/// The option that resolves lines of a site.
fn relative_to(origin: &str) -> Piece {
    Setting::RelativeTo.with(format_args!("{origin}/"))
}

pub fn is_url(text: &str) -> bool {
    has_web_scheme(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_recognised_by_its_first_line_and_names_the_command_that_extracts_urls() {
        let combined = r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 23 "https://r.example/" "Mozilla/5.0""#;
        let with_host = format!("www.h.example:443 {combined}");
        for (line, what, command) in [
            (r#""https://h.example/a""#, "in quotes", r#"tr -d '"'"#),
            (r#""https://h.example/a","2024-01-01""#, "in quotes", "`format: csv` `columns: url=1`"),
            ("'https://h.example/a'", "in quotes", r#"tr -d "'""#),
            ("“https://h.example/a”", "in quotes", "sed 's/^“//; s/” *$//'"),
            ("<https://h.example/a>", "in quotes", "sed 's/^<//; s/> *$//'"),
            (r#"  "https://h.example/a""#, "in quotes", r#"remove the quotes: tr -d '"'"#),
            ("'https://h.example/a';'x'", "in quotes", r#"sed "s/^'\([^']*\)'.*/\1/""#),
            (r#""https://h.example/a";"x""#, "in quotes", r#"sed 's/^"\([^"]*\)".*/\1/'"#),
            ("  “https://h.example/a”", "in quotes", "sed 's/^ *“//; s/” *$//'"),
            ("https%3A%2F%2Fh.example%2Fa", "percent-encoded as a whole", "decode them once"),
            ("https%3a//h.example/a", "percent-encoded as a whole", "decode them once"),
            ("HTTP%253A%252F%252Fh.example", "percent-encoded as a whole", "twice: python3"),
            (
                combined,
                "from an access log",
                r#"awk '$6 == "\"GET" && $9 == 200 {print "https://s.example" $7}'"#,
            ),
            (
                &with_host,
                "from an access log",
                r#"$7 == "\"GET" && $10 == 200 {print "https://s.example" $8}"#,
            ),
            (r#"::1 - - [x] "PURGE /a b HTTP/1.1" 405 0"#, "from an access log", "awk '"),
            ("<loc>https://h.example/a</loc>", "markup", "if it is a sitemap, set `format: sitemap`, else"),
            (r#"<a href="https://h.example/a">"#, "markup", "grep -o"),
            (r"17\thttps://h.example/a", "in columns", "`format: tsv` `columns: url=2`"),
            ("17,x,https://h.example/a", "in columns", "`format: csv` `columns: url=3`"),
            ("17 https://h.example/a 200", "in columns", "awk '{print $2}'"),
            ("https//h.example/a", "misspelt", "correct the scheme: sed 's|^https//|https://|'"),
            ("Http.//h.example/a", "misspelt", r"sed 's|^Http\.//|http://|'"),
            (
                r"\xc2\xa0https://h.example/a",
                "preceded by invisible characters",
                "LC_ALL=C sed 's/^[^ -~]*//'",
            ),
            (r"\xe9https://h.example/a", "preceded by other characters", "LC_ALL=C sed 's/^[^ -~]*//'"),
            (r"\xef\xbb\xbf/b", "preceded by invisible characters", "LC_ALL=C sed 's/^[^ -~]*//'"),
            ("//h.example/a", "without a scheme", "`relative_to: https://s.example/`"),
            ("www.h.example/a", "without a scheme", "sed 's,^,https://,'"),
            ("h.example", "without a scheme", "sed 's,^,https://,'"),
            ("h.example:443/a", "without a scheme", "sed 's,^,https://,'"),
            ("localhost:8080/a", "without a scheme", "sed 's,^,https://,'"),
            ("\"/a/b\"", "in quotes", "remove the quotes: tr -d '\"'"),
            ("'/a/b'", "in quotes", r#"remove the quotes: tr -d "'""#),
            ("/a/b", "relative", "`relative_to: https://s.example/`"),
            ("a/b.html", "relative", "`relative_to: https://s.example/`"),
            ("page.html", "relative", "`relative_to: https://s.example/`"),
            ("../a", "relative", "absolute"),
        ] {
            let (found, way_out) =
                of(line, "https://s.example", &LineSource::List).unwrap_or_else(|| panic!("{line} is known"));
            assert_eq!(found, what, "{line}");
            assert!(way_out.to_string().contains(command), "{line}: {way_out}");
        }
        for line in
            [r#""https://h.example/a","x""#, r#""https://h.example/a";"x""#, "'https://h.example/a','x'"]
        {
            let (_, way_out) = of(line, "https://s.example", &LineSource::List).unwrap();
            assert!(!way_out.to_string().contains("tr -d"), "{line}: {way_out}");
        }
        for (line, source, want) in [
            ("www.h.example/a", LineSource::List, "put one before it: sed 's,^,https://,'"),
            (
                "www.h.example/a",
                LineSource::PackedList,
                "add one with `relative_to: https://s.example/` `rewrite: https://s.example/www.h.example/=https://www.h.example/`",
            ),
            (
                "/a",
                LineSource::PackedList,
                "URLs must be absolute; resolve them with `relative_to: https://s.example/`",
            ),
            (
                "17 https://h.example/a",
                LineSource::PackedList,
                "{print $2}'; a command needs the unpacked list",
            ),
            (
                r"17\thttps://h.example/a",
                LineSource::PackedList,
                "read the input with `format: tsv` `columns: url=2`",
            ),
            ("'https://h.example/a'", LineSource::Rows("key url".into()), "correct key url in the export"),
            ("h.example:80/a", LineSource::Rows("key url".into()), "correct key url in the export"),
        ] {
            let (_, way_out) = of(line, "https://s.example", &source).unwrap();
            assert!(way_out.to_string().ends_with(want), "{line}: {way_out}");
        }
        for unknown in [
            "# https://h.example/a",
            "",
            "words",
            r"\xe9/b",
            "some more words",
            "javascript:void(0)",
            "mailto:a@h.example",
            "ftp://h.example/a",
        ] {
            assert_eq!(of(unknown, "https://s.example", &LineSource::List), None, "{unknown}");
        }
    }
}
