use super::*;
use crate::common::frequent::HELD_MAX;

fn rule(scope: ScopeRule, wanted: &[&str]) -> SegmentRule {
    let wanted = wanted.iter().map(|&name| name.into()).collect();
    SegmentRule::new(&"https://h.example/shop/".parse().unwrap(), scope, wanted)
}

/// Counts the segments of sitemaps with these URLs, the way the second pass does.
fn segments(rule: &SegmentRule, sitemaps: &[Vec<String>]) -> Segments {
    let (mut counter, mut tally) = (SegmentCounter::new(rule), SegmentTally::new(rule));
    let mut add_all = |tally: &mut SegmentTally<'_>| {
        for urls in sitemaps {
            urls.iter().for_each(|url| counter.add(url.as_bytes()));
            tally.add(counter.take());
        }
    };
    add_all(&mut tally);
    if tally.needs_recount() {
        tally.begin_recount();
        add_all(&mut tally);
    }
    tally.finish()
}

#[test]
fn the_segment_of_a_url_is_the_first_segment_below_the_root_or_its_origin() {
    let long = "x".repeat(200);
    for (url, in_directory, on_host) in [
        ("https://h.example/shop/a/b", "/shop/a", "/shop"),
        ("https://h.example/shop/a", "/shop/a", "/shop"),
        ("https://h.example/shop/a?q=/x", "/shop/a", "/shop"),
        ("https://h.example/shop/", "/shop/", "/shop"),
        ("https://h.example/", "https://h.example/", "/"),
        ("http://h.example/shop/a", "http://h.example/", "http://h.example/"),
        ("https://h.example:8443/shop/a", "https://h.example:8443/", "https://h.example:8443/"),
        (&format!("https://h.example/shop/{long}/b"), &format!("/shop/{}…", &long[..120]), "/shop"),
    ] {
        for (scope, want) in [(ScopeRule::Directory, in_directory), (ScopeRule::Any, on_host)] {
            let rule = rule(scope, &[]);
            assert_eq!(rule.name(rule.key(url.as_bytes())), want, "{url}");
            // A wanted segment is found by its name.
            let wanted = SegmentRule { wanted: vec![want.into()], ..rule.clone() };
            let keys: Vec<_> = wanted.wanted_keys().collect();
            assert_eq!(keys, [rule.key(url.as_bytes())], "{url}");
        }
    }
}

#[test]
fn urls_are_counted_in_xml_as_they_were_before_they_were_escaped() {
    let rule = rule(ScopeRule::Directory, &[]);
    let (mut by_xml, mut by_url) = (SegmentCounter::new(&rule), SegmentCounter::new(&rule));
    let mut xml = b"<urlset>\n".to_vec();
    for url in ["a&b/c", "it's/d", "a&b", "plain/x?q=1&r=2", "&&''"] {
        let url = format!("https://h.example/shop/{url}");
        xml.extend(b"<url><loc>");
        crate::sitemap::entities::push_escaped_text(&url, &mut xml);
        xml.extend(
            b"</loc><image:image><image:loc>https://h.example/shop/image</image:loc></image:image></url>\n",
        );
        by_url.add(url.as_bytes());
    }
    by_xml.add_xml(&xml);
    let counted = by_xml.take();
    assert_eq!(counted, by_url.take());
    assert_eq!(counted[&b"a&b"[..]], 2);
}

#[test]
fn the_largest_segments_are_exact_even_if_not_all_are_held() {
    // Every URL has its own segment, except in three segments: one of these comes late, and one is small but wanted.
    let url = |segment: String| format!("https://h.example/shop/{segment}/x");
    let mut urls: Vec<String> = (0..HELD_MAX * 2).map(|n| url(format!("only-{n}"))).collect();
    for n in 0..3_000 {
        urls.insert(n * 7, url("early".into()));
        urls.push(url("late".into()));
    }
    urls.push(url("small".into()));
    let rule = rule(ScopeRule::Directory, &["/shop/small", "/shop/gone"]);
    let sitemaps: Vec<_> = urls.chunks(20_000).map(<[_]>::to_vec).collect();
    let segments = segments(&rule, &sitemaps);
    let named: Vec<_> = segments.named.iter().map(|segment| (&*segment.name, segment.urls)).collect();
    assert_eq!(named, [("/shop/early", 3_000), ("/shop/late", 3_000), ("/shop/small", 1), ("/shop/gone", 0)]);
    assert_eq!((segments.others, segments.other_segments), (2 * HELD_MAX as u64, None));
    assert_eq!(segments.urls_of("/shop/only-1"), None);
}

#[test]
fn few_segments_are_all_counted_and_the_hundred_largest_are_named() {
    let urls: Vec<_> =
        (0..150).flat_map(|n| vec![format!("https://h.example/shop/s{n:03}/x"); 151 - n]).collect();
    let all = segments(&rule(ScopeRule::Directory, &["/shop/s149"]), std::slice::from_ref(&urls));
    assert_eq!((all.named.len(), all.other_segments), (101, Some(49)));
    assert_eq!(all.named[0], Segment { name: "/shop/s000".into(), urls: 151 });
    assert_eq!(all.urls_of("/shop/s149"), Some(2));
    assert_eq!(all.urls(), urls.len() as u64);
}

#[test]
fn the_segments_of_batches_add_up_and_unknown_ones_count_as_others() {
    let part = |named: &[(&str, u64)], others| Segments {
        named: named.iter().map(|&(name, urls)| Segment { name: name.into(), urls }).collect(),
        others,
        other_segments: None,
    };
    let (one, other) = (part(&[("/a", 5), ("/b", 2)], 0), part(&[("/a", 1), ("/c", 9)], 3));
    assert_eq!(Segments::sum(&[&one, &other]), part(&[("/c", 9), ("/a", 6)], 5));
}
