//! URLs that this build neither reads nor publishes to: suggests the programs that do.

use std::sync::OnceLock;

use sitemill::escape::escape;
use sitemill::{Error, UrlUse};

use super::shell::in_quotes;

/// Whether this build reads objects and files of web servers.
const READS_OBJECTS: bool = cfg!(feature = "cloud");

/// The name of the command that reads inputs, if it is not `build`.
static READER: OnceLock<&str> = OnceLock::new();

/// Says that the inputs are those of the command `reader`, for the suggestions of this module.
pub fn set_reader(reader: &'static str) {
    // A program that calls several commands, such as an interpreter of Python, prints no suggestions.
    let _ = READER.set(reader);
}

/// The start of a URL, whether a build with object stores reads it, and the commands that read it otherwise.
const PROGRAMS: [(&str, bool, &str); 10] = [
    ("http://", true, "curl -fsSL 'URL' | sitemill COMMAND - …"),
    ("https://", true, "curl -fsSL 'URL' | sitemill COMMAND - …"),
    ("s3://", true, "rclone copy ':s3,env_auth:PATH' input\n  sitemill COMMAND input …"),
    ("gs://", true, "rclone copy ':gcs,env_auth:PATH' input\n  sitemill COMMAND input …"),
    ("az://", true, "rclone copy ':azureblob,env_auth:PATH' input\n  sitemill COMMAND input …"),
    ("ftp://", false, "curl -fsSL 'URL' | sitemill COMMAND - …"),
    ("s3a://", true, "hdfs dfs -cat 'URL' | sitemill COMMAND - …"),
    ("hdfs://", false, "hdfs dfs -cat 'URL' | sitemill COMMAND - …"),
    ("abfss://", false, "hdfs dfs -cat 'URL' | sitemill COMMAND - …"),
    ("abfs://", true, "hdfs dfs -cat 'URL' | sitemill COMMAND - …"),
];

/// The commands that copy a directory to a bucket: the index files after their sitemaps, and their lines for robots.txt last.
const COPY: &str = "\n  rclone copy DIR REMOTE --max-depth 1 --include '/sitemap-*.xml.gz'\n  \
    rclone copy DIR REMOTE --max-depth 1 --include '/sitemap-*index-*.xml'\n  \
    rclone copy DIR REMOTE --max-depth 1 --include '/robots-sitemaps*.txt'";

/// If `error` says that a URL is not a file, returns the commands that read the URL, or that publish to it. `None` for a URL that
/// cannot be typed.
pub fn command(error: &Error) -> Option<String> {
    let url = error.path()?.to_str().filter(|url| looks_as_it_is(url))?;
    if error.unsupported()? == UrlUse::Output {
        return Some(COPY.into());
    }
    let starts = |start: &str| url.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    let (start, _, commands) =
        PROGRAMS.iter().find(|(start, is_read, _)| starts(start) && !(*is_read && READS_OBJECTS))?;
    let lines = if commands.contains('\n') { "\n  " } else { "" };
    let commands = commands.replace("COMMAND", READER.get().unwrap_or(&"build"));
    // A URL may contain the other word.
    let commands = match commands.contains("PATH") {
        true => copy_command(&commands, &url[start.len()..]),
        // The query was left out, as it may be a signature.
        false if url.ends_with("?…") => commands,
        false => commands.replace("URL", &in_quotes(url)),
    };
    Some(format!("{lines}{commands}"))
}

/// `commands` with `path`, which may be a pattern: rclone takes those only in a filter.
fn copy_command(commands: &str, path: &str) -> String {
    let Some(pattern) = path.find(['*', '?', '[']) else {
        return commands.replace("PATH", &in_quotes(path));
    };
    let (directory, names) = path.split_at(path[..pattern].rfind('/').unwrap_or(0));
    let commands = commands.replace("PATH", &in_quotes(directory));
    commands.replace(" input\n", &format!(" input --include '{}'\n", in_quotes(names)))
}

/// Whether a terminal shows every character of `url`, so that nobody pastes a command with others than those that are seen.
fn looks_as_it_is(url: &str) -> bool {
    let (url, mut escaped) = (url.replace('\\', ""), Vec::new());
    escape(url.as_bytes(), &mut escaped);
    escaped == url.as_bytes()
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use sitemill::{CleanJob, Silent, Stop, Target};

    use super::*;

    /// The error of a command that reads `input`.
    fn read(input: &str) -> Error {
        let job = CleanJob::new(vec![input.into()]);
        let to = Target { name: Path::new("output"), to: &mut Vec::new() };
        sitemill::clean(&job, &Silent, &Stop::default(), to, None).unwrap_err()
    }

    #[test]
    fn the_error_for_a_url_that_this_build_cannot_read_names_the_program_that_reads_it() {
        let copy = "\n  rclone copy ':s3,env_auth:bucket/a.gz' input\n  sitemill build input …";
        let copy_quoted = "\n  rclone copy ':s3,env_auth:bucket/it'\\''s' input\n  sitemill build input …";
        let copy_pattern = "\n  rclone copy ':s3,env_auth:bucket/day' input --include '/p?rt-*.gz'\n  sitemill build input …";
        let long = format!("ftp://h.example/PATH/{}", "a".repeat(300));
        let said_of_long = format!("curl -fsSL '{long}' | sitemill build - …");
        for (name, is_read, said) in [
            ("https://h.example/a", true, Some("curl -fsSL 'https://h.example/a' | sitemill build - …")),
            ("https://h.example/a?sig=5ec", true, Some("curl -fsSL 'URL' | sitemill build - …")),
            ("HTTP://h.example/a", true, Some("curl -fsSL 'HTTP://h.example/a' | sitemill build - …")),
            ("s3://bucket/a.gz", true, Some(copy)),
            ("ftp://h.example/a?b", false, Some("curl -fsSL 'URL' | sitemill build - …")),
            ("ftp://h.example/a", false, Some("curl -fsSL 'ftp://h.example/a' | sitemill build - …")),
            ("hdfs://h.example/a", false, Some("hdfs dfs -cat 'hdfs://h.example/a' | sitemill build - …")),
            (
                "ftp://h.example/it's",
                false,
                Some(r"curl -fsSL 'ftp://h.example/it'\''s' | sitemill build - …"),
            ),
            (r"ftp://h.example/a\b", false, Some(r"curl -fsSL 'ftp://h.example/a\b' | sitemill build - …")),
            ("s3://bucket/it's", true, Some(copy_quoted)),
            ("s3://AKIA:5ec@bucket/a.gz", true, Some(copy)),
            ("s3://bucket/day/p?rt-*.gz", true, Some(copy_pattern)),
            ("abfs://c@a.example/x", true, Some("hdfs dfs -cat 'abfs://c@a.example/x' | sitemill build - …")),
            (&*long, false, Some(&*said_of_long)),
            ("ftp://h.example/a\nb", false, None),
            ("ftp://h.example/a\u{202e}b", false, None),
            ("file:///data/a", false, None),
            ("data.csv", false, None),
        ] {
            // Nothing is requested here.
            if !(is_read && READS_OBJECTS) {
                let error = read(name);
                assert_eq!(command(&error).as_deref(), said, "{error}");
            }
        }
        let mut job =
            sitemill::Job::new(Vec::new(), "https://h.example/".parse().unwrap(), "s3://bucket/maps".into());
        let refused = job.check().err();
        assert_eq!(refused.is_some(), !READS_OBJECTS);
        if let Some(error) = refused {
            assert!(error.to_string().ends_with("or publish to a directory and copy its files"), "{error}");
            assert!(command(&error).is_some_and(|copy| copy.contains("rclone copy DIR")));
        }
        let of_rules =
            Error::input(Path::new("https://h.example/robots.txt"), io::ErrorKind::NotFound.into());
        assert_eq!(command(&of_rules), None);
        job.publication.out = "https://h.example/maps".into();
        assert_eq!(command(&job.check().unwrap_err()), None);
        job.publication.out = "ftp://h.example/maps".into();
        assert_eq!(command(&job.check().unwrap_err()), None);
    }
}
