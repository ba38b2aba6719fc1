//! Who may read published files: the umask and the groups of the users who run builds.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use crate::support::{Run, TempDir, build_command, contents, finish, sitemill, skip, started_by};

const BASE: &str = "http://h.example/";

/// Builds the pages up to `last` with the umask `mask`, started by the program and arguments `who`.
fn build(out: &Path, who: &[&str], mask: &str, last: u32) -> Run {
    let shell = format!("umask {mask}; exec \"$@\"");
    let words = [who, &["sh", "-c", &shell, "sh"]].concat();
    let pages: String = (1..=last).map(|page| format!("{BASE}{page}\n")).collect();
    finish(&mut started_by(&words, &build_command(out, BASE)), pages.as_bytes())
}

#[test]
fn a_run_with_a_strict_umask_leaves_the_files_readable_for_those_who_could_read_the_old_ones() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &[], "022", 1).expect(0);
    build(&out, &[], "077", 2).expect(0);
    for directory in [&out, &out.join(".sitemill"), &out.join(".sitemill/sets")] {
        for file in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            assert!(file.is_dir() || mode & 0o444 == 0o444, "{}: {mode:o}", file.display());
        }
    }
}

#[test]
fn new_files_keep_the_group_that_could_read_the_old_ones_or_nothing_is_published() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skip("changing groups needs root");
    }
    let (user, group) = (65_534, 12_345);
    let member = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=12345"];
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let directory = TempDir::new();
    chown(directory.path(), Some(user), Some(user)).unwrap();
    let out = directory.join("out");
    let owners = || {
        let files =
            fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let mut owners: Vec<_> = files.map(|file| fs::metadata(file).unwrap()).collect();
        owners.retain(|meta| meta.mode() & 0o777 != 0o640 || (meta.uid(), meta.gid()) != (user, group));
        owners.len()
    };
    build(&out, &member, "027", 1).expect(0);
    for entry in fs::read_dir(&out).unwrap().map(|entry| entry.unwrap()) {
        chown(entry.path(), None, Some(group)).unwrap();
    }
    for (mask, last) in [("027", 2), ("077", 3)] {
        build(&out, &member, mask, last).expect(0);
        assert_eq!(owners(), 0, "{mask}");
    }
    let before = contents(&out);
    let refused = build(&out, &other, "027", 4).expect(77).stderr;
    let said =
        "sitemap-index-1.xml: its group cannot be preserved, and it is not readable by all users; run as";
    assert!(refused.contains(said), "{refused}");
    assert_eq!(contents(&out), before);
    // A run of root does not lock the user out, neither of the files nor of the manifest.
    build(&out, &["env"], "027", 4).expect(0);
    assert_eq!(owners(), 0);
    build(&out, &member, "027", 5).expect(0);
    // Nobody in the group could read it.
    fs::set_permissions(out.join("sitemap-index-1.xml"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(out.join("robots-sitemaps.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    build(&out, &other, "077", 6).expect(0);
}

#[test]
fn a_site_that_this_user_may_not_read_is_named_and_not_left_out() {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skip("another user needs root");
    }
    let directory = TempDir::new();
    let parent = directory.join("sites");
    for site in ["a", "b", "lost+found"] {
        build(&parent.join(site), &[], "022", 1).expect(0);
    }
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(directory.path(), 0o755);
    mode(&parent.join("lost+found"), 0o700);
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let read = |words: &[&str]| finish(&mut started_by(&nobody, sitemill().args(words).arg(&parent)), b"");
    let commands = [&["check", "--quiet"][..], &["urls", "--quiet"]];
    for words in commands {
        read(words).expect(0);
    }
    mode(&parent.join("b"), 0o700);
    for words in commands {
        let said = read(words).expect(66).stderr;
        assert!(said.contains("/sites/b: cannot be read: Permission denied"), "{said}");
    }
    mode(&parent.join("a"), 0o700);
    for (command, exit) in [("check", 66), ("status", 77), ("report", 77)] {
        let said = read(&[command]).expect(exit).stderr;
        assert!(said.contains("Permission denied") && !said.contains("lost+found"), "{said}");
    }
}
