//! Sections on the page, and what names them: rules and files.

use std::fs;

use super::BASE;
use crate::support::{TempDir, build_command, finish, run};

#[test]
fn a_page_shows_sections_whole_rules_and_the_file_with_the_lines_for_robots_txt() {
    let directory = TempDir::new();
    let [out, html] = ["out", "page.html"].map(|name| directory.join(name));
    let rules = ["a", "b"].map(|end| format!("/a-rather-long-beginning-of-many-patterns-of-one-job/{end}$"));
    let mut lines = String::new();
    for n in 0..11 {
        lines += &format!("{BASE}s{n}/page\n{BASE}s{n}/other\n");
    }
    rules.iter().for_each(|rule| lines += &format!("{BASE}{}\n", rule.trim_matches(['/', '$'])));
    let mut command = build_command(&out, BASE);
    command.args(["--name=shop", "--section-by-path", "--sections-max=100", "--html"]).arg(&html);
    rules.iter().for_each(|rule| _ = command.args(["--exclude", rule]));
    finish(&mut command, lines.as_bytes()).expect(0);
    let page = fs::read_to_string(&html).unwrap();
    for rule in rules {
        assert_eq!(page.matches(&format!("<code>exclude={rule}</code>")).count(), 2, "{rule}: {page}");
    }
    assert!(page.contains("And 1 more; see <code>robots-sitemaps-shop.txt</code>."), "{page}");
    let of_directory = String::from_utf8(run(["report", out.to_str().unwrap()]).expect(0).stdout).unwrap();
    for page in [page, of_directory] {
        let table = page.split_once("<h2 id=\"sections\">Sections</h2>").expect("sections").1;
        let table = table.split_once("</table>").unwrap().0;
        for n in 0..11 {
            let row = format!(
                "<code>s{n}</code></th><td class=\"number\">2</td><td class=\"number\">9.1\u{202f}%</td>"
            );
            assert!(table.contains(&row), "{row}: {table}");
        }
    }
}
