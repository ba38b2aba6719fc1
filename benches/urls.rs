//! Writes realistic URLs, or short ones, one per line: `scripts/urls 5000000 --duplicates 0.1 --out urls.txt`.
//!
//! Writes the number of lines of each kind to standard error or the file of `--counts`, for comparison with sitemill's
//! report.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::str::FromStr;

mod corpus;

use corpus::{Corpus, Counts, Order, REASONS, Recipe, Style};

const USAGE: &str = "\
usage: urls COUNT [OPTION]...

  --seed N              a different number gives different URLs of the same kind [default: 1]
  --duplicates SHARE    share of the lines that repeat an earlier URL, 0 to 1 [default: 0]
  --non-ascii SHARE     share of the URLs with a word in another script, raw or percent-encoded [default: 0]
  --bad SHARE           share of the lines that must be rejected, for every reason in turn [default: 0]
  --order ORDER         shuffled, or sorted as in a shop's export [default: shuffled]
  --style STYLE         shop, or short: a number in base 36 after the base URL [default: shop]
  --base-url URL        start of every good URL [default: https://www.example.com/]
  --out FILE            output file [default: standard output]
  --counts FILE         the exact counts as JSON [default: one line on standard error]
";

/// Bytes in each write.
const BUFFER_BYTES: usize = 1 << 20;
/// More bytes than any line has.
const LINE_BYTES_MAX: usize = 1 << 12;

struct Args {
    recipe: Recipe,
    out: Option<String>,
    counts: Option<String>,
}

fn main() -> ExitCode {
    let corpus_and_args =
        parse(std::env::args().skip(1)).and_then(|args| Ok((Corpus::new(&args.recipe)?, args)));
    let (corpus, args) = match corpus_and_args {
        Ok(ready) => ready,
        Err(message) if message.is_empty() => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprint!("urls: {message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&corpus, &args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("urls: {message}");
            ExitCode::from(74)
        }
    }
}

/// The error is empty for `--help`.
fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args { recipe: Recipe::default(), out: None, counts: None };
    let mut count = None;
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--seed" => args.recipe.seed = number(&value()?)?,
            "--duplicates" => args.recipe.duplicates = number(&value()?)?,
            "--non-ascii" => args.recipe.non_ascii = number(&value()?)?,
            "--bad" => args.recipe.bad = number(&value()?)?,
            "--order" => {
                args.recipe.order = match value()?.as_str() {
                    "shuffled" => Order::Shuffled,
                    "sorted" => Order::Sorted,
                    other => return Err(format!("{other}: an order is shuffled or sorted")),
                }
            }
            "--style" => {
                args.recipe.style = match value()?.as_str() {
                    "shop" => Style::Shop,
                    "short" => Style::Short,
                    other => return Err(format!("{other}: a style is shop or short")),
                }
            }
            "--base-url" => args.recipe.base_url = value()?,
            "--out" => args.out = Some(value()?),
            "--counts" => args.counts = Some(value()?),
            "--help" | "-h" => return Err(String::new()),
            flag if flag.starts_with('-') => return Err(format!("{flag}: no such option")),
            _ if count.is_some() => return Err(format!("{word}: COUNT was given already")),
            _ => count = Some(number(&word)?),
        }
    }
    args.recipe.lines = count.ok_or("COUNT is missing")?;
    Ok(args)
}

/// A number, with optional underscores: `5_000_000`.
fn number<N: FromStr>(word: &str) -> Result<N, String> {
    word.replace('_', "").parse().map_err(|_| format!("{word}: not a number that fits here"))
}

fn run(corpus: &Corpus, args: &Args) -> Result<(), String> {
    let bytes = match &args.out {
        Some(path) => {
            let file = File::create(path).map_err(|error| format!("{path}: cannot be created: {error}"))?;
            write_lines(corpus, file).map_err(|error| format!("{path}: cannot be written: {error}"))?
        }
        None => match write_lines(corpus, io::stdout().lock()) {
            // The reader has closed the pipe, as in `urls 1000000 | head`.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            written => written.map_err(|error| format!("standard output: cannot be written: {error}"))?,
        },
    };
    let json = json(corpus.counts(), bytes);
    match &args.counts {
        Some(path) => {
            std::fs::write(path, json).map_err(|error| format!("{path}: cannot be written: {error}"))
        }
        None => {
            eprint!("{json}");
            Ok(())
        }
    }
}

fn write_lines(corpus: &Corpus, mut out: impl Write) -> io::Result<u64> {
    let mut buffer = Vec::with_capacity(BUFFER_BYTES + LINE_BYTES_MAX);
    let mut lines = corpus.lines();
    let mut bytes = 0;
    while lines.write_next(&mut buffer).is_some() {
        if buffer.len() >= BUFFER_BYTES {
            out.write_all(&buffer)?;
            bytes += buffer.len() as u64;
            buffer.clear();
        }
    }
    out.write_all(&buffer)?;
    out.flush()?;
    Ok(bytes + buffer.len() as u64)
}

fn json(counts: &Counts, bytes: u64) -> String {
    let Counts { lines, distinct, duplicates, bad, rejected } = counts;
    let mut json = format!(
        "{{\"lines\": {lines}, \"bytes\": {bytes}, \"distinct\": {distinct}, \"duplicates\": {duplicates}, \
         \"bad\": {bad}, \"rejected\": {{"
    );
    let met = REASONS.iter().zip(rejected).filter(|&(_, &count)| count > 0);
    for (at, (reason, count)) in met.enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        write!(json, "{comma}\"{reason}\": {count}").expect("memory takes every write");
    }
    json.push_str("}}\n");
    json
}
