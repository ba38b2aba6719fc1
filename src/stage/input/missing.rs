//! Names of inputs that are no files: what the user meant, and what to do about it.

use std::io;
use std::path::Path;

use crate::error::{Error, ErrorKind, Shown};

/// How to read from elsewhere: the start of a URL, and the program that writes what is there to its standard output.
const ELSEWHERE: [(&str, &str); 8] = [
    ("http://", "curl -sS URL"),
    ("https://", "curl -sS URL"),
    ("ftp://", "curl -sS URL"),
    ("s3://", "aws s3 cp URL -"),
    ("gs://", "gcloud storage cat URL"),
    ("hdfs://", "hdfs dfs -cat URL"),
    ("abfs://", "azcopy cp URL --from-to BlobPipe"),
    ("file://", ""),
];

/// The error for the input `name`, of which the system says `error`.
pub fn unreadable(name: &Path, error: io::Error) -> Error {
    let text = name.to_string_lossy();
    let starts = |start: &str| text.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    let is_missing = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let shown = Shown(name);
    let why = match ELSEWHERE.iter().find(|(start, _)| starts(start)) {
        _ if !is_missing => return Error::input(name, error),
        Some((_, "")) => "is a URL; give the path alone".into(),
        Some((_, program)) => {
            let program = program.replace("URL", &format!("'{shown}'"));
            format!("is a URL, and sitemill reads files; pipe it in: {program} | sitemill build - …")
        }
        None if text.contains(['*', '?', '[']) => {
            "no file matches this pattern; the shell leaves a pattern that matches nothing as it is".into()
        }
        None => return Error::input(name, error),
    };
    Error::new(ErrorKind::Input, format!("{shown}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_name_is_told_with_the_way_to_read_it() {
        for (name, said) in [
            ("https://h.example/a?b", "curl -sS 'https://h.example/a?b' | sitemill build - …"),
            ("HTTP://h.example/a", "curl -sS 'HTTP://h.example/a' |"),
            ("s3://bucket/a.gz", "aws s3 cp 's3://bucket/a.gz' - |"),
            ("gs://bucket/a", "gcloud storage cat 'gs://bucket/a' |"),
            ("file:///data/a", "give the path alone"),
            ("data/*.csv", "no file matches this pattern"),
            ("data/part-[0-9]", "no file matches this pattern"),
            ("data.csv", "data.csv: cannot be read"),
            ("s3:", "s3:: cannot be read"),
        ] {
            let told = unreadable(Path::new(name), io::ErrorKind::NotFound.into());
            assert!(told.kind() == ErrorKind::Input && told.to_string().contains(said), "{told}");
        }
        let denied = unreadable(Path::new("data/*.csv"), io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.to_string(), "data/*.csv: cannot be read");
    }
}
