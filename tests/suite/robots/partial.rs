//! A robots.txt that lists some index files of a set, but not all.

use super::*;

/// Builds as many index files as there are `pages`. Returns standard error.
fn grown(out: &Path, pages: u32, options: &[&str]) -> String {
    let input: String = (0..pages).map(|page| format!("{BASE}{page}\n")).collect();
    let limits = ["--urls-per-sitemap", "1", "--sitemaps-per-index", "1", "--max-shrink", "100"];
    finish(build_command(out, BASE).args(limits).args(options), input.as_bytes()).expect(0).stderr
}

/// The findings of `check`.
fn found(out: &Path) -> String {
    let words = ["check".as_ref(), "-q".as_ref(), out.as_os_str()];
    String::from_utf8(run(words).stdout).unwrap()
}

#[test]
fn a_robots_txt_in_the_directory_that_lacks_an_index_file_is_named_until_it_is_corrected() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let robots = out.join("robots.txt");
    grown(&out, 1, &[]);
    fs::copy(out.join("robots-sitemaps.txt"), &robots).unwrap();
    assert_eq!((grown(&out, 1, &[]), found(&out)), Default::default());
    let lacks = format!(
        "{}: lists {BASE}sitemap-index-1.xml, but not sitemap-index-2.xml and 1 more of the new set; take the lines from {}",
        robots.display(),
        out.join("robots-sitemaps.txt").display()
    );
    for options in [&["--dry-run"][..], &[], &[]] {
        let said = grown(&out, 3, options);
        assert!(said.contains(&lacks) && said.lines().count() == 1, "{said}");
    }
    let missing = [2, 3].map(|number| {
        format!(
            ": robots: no line names sitemap-index-{number}.xml, although one names sitemap-index-1.xml ("
        )
    });
    let lines = found(&out);
    assert!(lines.lines().count() == 2 && missing.iter().all(|words| lines.contains(words)), "{lines}");
    // A rollback says the same of the set that it restores.
    grown(&out, 1, &[]);
    let back = ["rollback".as_ref(), "-q".as_ref(), out.as_os_str()];
    let back = run(back).expect(0).stderr;
    assert!(back.contains(&lacks), "{back}");
    // The run maintains a block with all of them.
    assert_eq!(grown(&out, 3, &["--robots", robots.to_str().unwrap()]), "");
    assert_eq!((grown(&out, 3, &[]), found(&out)), Default::default());
}

#[test]
fn a_robots_txt_that_lists_no_index_file_of_a_set_is_no_reason_to_warn() {
    let directory = TempDir::new();
    let out = directory.join("out");
    grown(&out, 2, &[]);
    grown(&out, 2, &["--name", "blog"]);
    for text in [THEIRS.to_owned(), format!("Sitemap: {BASE}sitemap-blog-index-1.xml\n")] {
        fs::write(out.join("robots.txt"), &text).unwrap();
        assert_eq!(grown(&out, 2, &[]), "", "{text}");
    }
    // Each set of the directory is compared by itself.
    let said = grown(&out, 2, &["--name", "blog"]);
    assert!(said.contains("but not sitemap-blog-index-2.xml of the new set; "), "{said}");
    let lines = found(&out);
    assert!(
        lines.contains("no line names sitemap-blog-index-2.xml") && lines.lines().count() == 1,
        "{lines}"
    );
}

#[test]
fn a_section_that_a_robots_txt_does_not_list_is_named() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |pages: &str| {
        finish(build_command(&out, BASE).arg("--section-by-path"), pages.as_bytes()).expect(0).stderr
    };
    build(&format!("{BASE}a/1\n"));
    fs::copy(out.join("robots-sitemaps.txt"), out.join("robots.txt")).unwrap();
    let said = build(&format!("{BASE}a/1\n{BASE}b/1\n"));
    assert!(said.contains("sitemap-a-index-1.xml, but not sitemap-b-index-1.xml of the new set"), "{said}");
    assert!(found(&out).contains("no line names sitemap-b-index-1.xml"));
}
