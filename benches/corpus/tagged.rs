//! URLs with tags: dates, three tags, alternates and images.

use std::fmt::Write;

use super::kinds::{Dice, Draw, HEX, KINDS};

/// URLs with tags.
pub struct Tagged {
    /// Its name in the results.
    pub name: &'static str,
    /// The name of the kind of URLs.
    kind: &'static str,
    /// Draws the tags of a URL, as they follow its `loc` in a sitemap.
    tags: fn(&mut Dice, &str) -> String,
}

/// All kinds of tags.
pub const TAGGED: [Tagged; 7] = [
    Tagged { name: "shop URLs with dates", kind: "shop URLs", tags: date },
    Tagged { name: "shop URLs with three tags", kind: "shop URLs", tags: three_tags },
    Tagged { name: "counters with times", kind: "counters", tags: time },
    Tagged { name: "headlines with times", kind: "dates and headlines", tags: time },
    Tagged { name: "two parameters with three tags", kind: "two parameters", tags: three_tags },
    Tagged { name: "another shop with alternates", kind: "another shop", tags: alternates },
    Tagged { name: "forum with dates and images", kind: "threads of a forum", tags: date_and_images },
];

impl Tagged {
    /// `count` distinct URLs in random order, each with its tags.
    pub fn urls(&self, count: usize, draw: Draw) -> Vec<(String, String)> {
        let kind = KINDS.iter().find(|kind| kind.name == self.kind).expect("it is one of them");
        let mut dice = Dice::new(draw, if draw == Draw::Tuning { 2 } else { 8_888 });
        let with_tags = |url: String| {
            let tags = (self.tags)(&mut dice, &url);
            (url, tags)
        };
        kind.urls(count, draw).into_iter().map(with_tags).collect()
    }
}

/// A date of the last two years, the later ones more often.
fn day(dice: &mut Dice) -> String {
    let days = dice.below(730).min(dice.below(730));
    let (year, day) = (2026 - days / 365, 364 - days % 365);
    format!("{year}-{:02}-{:02}", 1 + day / 31, 1 + day % 28)
}

fn date(dice: &mut Dice, _url: &str) -> String {
    format!("<lastmod>{}</lastmod>", day(dice))
}

fn time(dice: &mut Dice, _url: &str) -> String {
    let (day, hour, minute, second) = (day(dice), dice.below(24), dice.below(60), dice.below(60));
    let zone = dice.of(["Z", "+02:00"]);
    format!("<lastmod>{day}T{hour:02}:{minute:02}:{second:02}{zone}</lastmod>")
}

fn three_tags(dice: &mut Dice, url: &str) -> String {
    let often = ["daily", "weekly", "monthly"][dice.below(3) as usize];
    let priority = 3 + dice.below(7);
    let date = date(dice, url);
    format!("{date}<changefreq>{often}</changefreq><priority>0.{priority}</priority>")
}

fn alternates(dice: &mut Dice, url: &str) -> String {
    let (origin, path) = url.split_at(url.match_indices('/').nth(2).map_or(url.len(), |(at, _)| at));
    let languages = dice.of([["en", "de", "fr", "es"], ["nl", "pl", "pt", "sv"]]);
    let link = |language| {
        format!("<xhtml:link rel=\"alternate\" hreflang=\"{language}\" href=\"{origin}/{language}{path}\"/>")
    };
    languages.map(link).concat()
}

fn date_and_images(dice: &mut Dice, url: &str) -> String {
    let mut tags = date(dice, url);
    for _ in 0..1 + dice.below(3) {
        let (folder, name) = (dice.below(100), dice.text(HEX, 12));
        let image = dice.of([
            format!("https://img.example.com/{folder:02}/{name}.jpg"),
            format!("https://cdn.example.org/media/{name}-{folder}.webp"),
        ]);
        write!(tags, "<image:image><image:loc>{image}</image:loc></image:image>")
            .expect("memory takes every write");
    }
    tags
}
