//! Paths that name no file: what the user meant, and what to do about it.

use std::io;
use std::path::Path;

use super::shown::Shown;

/// How to read from elsewhere: the start of a URL, and the program that writes what is there to its standard output.
const ELSEWHERE: [(&str, &str); 9] = [
    ("http://", "curl -sS URL"),
    ("https://", "curl -sS URL"),
    ("ftp://", "curl -sS URL"),
    ("s3://", "aws s3 cp URL -"),
    ("s3a://", "hdfs dfs -cat URL"),
    ("gs://", "gcloud storage cat URL"),
    ("hdfs://", "hdfs dfs -cat URL"),
    ("abfs://", "azcopy cp URL --from-to BlobPipe"),
    ("file://", ""),
];

/// What is wrong with the path `name`, of which the system says `error`, if it is a URL or a pattern.
pub(super) fn explain(name: &Path, error: &io::Error) -> Option<String> {
    if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
        return None;
    }
    let text = name.to_string_lossy();
    let starts = |start: &str| text.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start));
    match ELSEWHERE.iter().find(|(start, _)| starts(start)) {
        Some((_, "")) => Some("is a URL; give the path alone".into()),
        Some((_, program)) => {
            let program = program.replace("URL", &format!("'{}'", Shown(name)));
            Some(format!(
                "is a URL, and sitemill reads files; download it, or pipe it in: {program} | sitemill build - …"
            ))
        }
        None if is_url(name) => Some("is a URL, and sitemill reads files; download it, or pipe it in".into()),
        None if text.contains(['*', '?', '[', '{']) => {
            let why =
                "no file matches this pattern; the shell leaves a pattern that matches nothing as it is";
            Some(why.into())
        }
        None => None,
    }
}

/// Whether `path` is written like a URL: a scheme after RFC 3986, 3.1, and `://`.
pub(crate) fn is_url(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let scheme = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
    scheme > 1 && text[0].is_ascii_alphabetic() && text[scheme..].starts_with(b"://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn what_is_no_file_name_is_told_with_the_way_to_read_it() {
        for (name, said) in [
            ("https://h.example/a?b", "curl -sS 'https://h.example/a?b' | sitemill build - …"),
            ("HTTP://h.example/a", "curl -sS 'HTTP://h.example/a' |"),
            ("s3://bucket/a.gz", "aws s3 cp 's3://bucket/a.gz' - |"),
            ("gs://bucket/a", "gcloud storage cat 'gs://bucket/a' |"),
            ("az://bucket/a", "is a URL, and sitemill reads files"),
            ("file:///data/a", "give the path alone"),
            ("data/*.csv", "no file matches this pattern"),
            ("data/part-[0-9]", "no file matches this pattern"),
            ("data/{a,b}.txt", "no file matches this pattern"),
            ("data.csv", "data.csv: cannot be read"),
            ("s3:", "s3:: cannot be read"),
        ] {
            let told = Error::input(Path::new(name), io::ErrorKind::NotFound.into());
            assert!(told.kind() == ErrorKind::Input && told.to_string().contains(said), "{told}");
        }
        let denied = Error::input(Path::new("data/*.csv"), io::ErrorKind::PermissionDenied.into());
        assert_eq!(denied.to_string(), "data/*.csv: cannot be read");
    }
}
