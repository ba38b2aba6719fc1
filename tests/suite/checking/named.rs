//! Sets and files that are named in several ways, and what the names of files tell.

use std::fs;
use std::path::Path;

use super::{BASE, check};
use crate::support::{Run, TempDir, build_command, files, finish, gunzip, gzip};

fn build(out: &Path, options: &[&str], pages: &[&str]) -> Run {
    let input: String = pages.iter().map(|page| format!("{BASE}{page}\n")).collect();
    finish(build_command(out, BASE).args(["--urls-per-sitemap", "1"]).args(options), input.as_bytes())
}

#[test]
fn content_is_compared_with_the_name_of_its_file_whatever_words_the_name_has() {
    let directory = TempDir::new();
    for options in
        [&[][..], &["--name", "blog"], &["--section-by-path"], &["--name=x-1", "--section-by-path"]]
    {
        let out = directory.join(options.concat());
        build(&out, options, &["a/1", "a/2"]).expect(0);
        assert_eq!(check(&out, &[]).0, [], "{options:?}");
        let sitemaps: Vec<String> = files(&out).into_iter().filter(|file| file.ends_with(".gz")).collect();
        let [first, second] = [0, 1].map(|at| out.join(&sitemaps[at]));
        let whole = fs::read(&first).unwrap();
        let finding = |at: usize| ("content-name".to_owned(), format!("{} null", sitemaps[at]));

        let edited = String::from_utf8(gunzip(&whole)).unwrap().replace("/a/", "/b/");
        fs::write(&first, gzip(edited.as_bytes())).unwrap();
        assert_eq!(check(&out, &[]).0, [finding(0)], "{options:?}");
        fs::rename(&second, &first).unwrap();
        fs::write(&second, &whole).unwrap();
        assert_eq!(check(&out, &[]).0, [finding(0), finding(1)], "{options:?}");
    }
}
