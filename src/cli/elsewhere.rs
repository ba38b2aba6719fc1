//! Remote inputs: suggests the program that reads them into a pipe.

use sitemill::{Error, ErrorKind, escape};

/// The start of a URL, and the program that downloads it to standard output.
const PROGRAMS: [(&str, &str); 8] = [
    ("http://", "curl -sS URL"),
    ("https://", "curl -sS URL"),
    ("ftp://", "curl -sS URL"),
    ("s3://", "aws s3 cp URL -"),
    ("s3a://", "hdfs dfs -cat URL"),
    ("gs://", "gcloud storage cat URL"),
    ("hdfs://", "hdfs dfs -cat URL"),
    ("abfs://", "azcopy cp URL --from-to BlobPipe"),
];

/// If `error` says that a URL is not a file, returns the command that reads the URL.
pub fn command(error: &Error) -> Option<String> {
    let path = error.path().filter(|_| error.kind() == ErrorKind::Input)?;
    let url = escape::shown(path.as_os_str().as_encoded_bytes());
    let starts = |start: &str| url.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    let (_, program) = PROGRAMS.iter().find(|(start, _)| starts(start))?;
    Some(format!("{} | sitemill build - …", program.replace("URL", &format!("'{url}'"))))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_error_for_a_url_names_the_program_that_reads_it() {
        for (name, said) in [
            ("https://h.example/a?b", Some("curl -sS 'https://h.example/a?b' | sitemill build - …")),
            ("HTTP://h.example/a", Some("curl -sS 'HTTP://h.example/a' | sitemill build - …")),
            ("s3://bucket/a.gz", Some("aws s3 cp 's3://bucket/a.gz' - | sitemill build - …")),
            ("gs://bucket/a", Some("gcloud storage cat 'gs://bucket/a' | sitemill build - …")),
            ("az://bucket/a", None),
            ("file:///data/a", None),
            ("data.csv", None),
        ] {
            let error = Error::input(Path::new(name), io::ErrorKind::NotFound.into());
            assert_eq!(command(&error).as_deref(), said, "{name}");
        }
    }
}
