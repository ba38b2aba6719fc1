//! Names and positions of columns as options give them.

use super::*;

#[test]
fn columns_are_found_by_their_usual_names_or_the_names_that_the_user_gives() {
    let usual = Columns::default();
    let places = |columns: &Columns, names: &str| {
        columns.places(&names.split(' ').map(str::as_bytes).collect::<Vec<_>>())
    };
    // Each part that has a column, and the number of that column.
    let found = |columns: &Columns, names: &str| {
        let places = RowPart::ALL.into_iter().zip(places(columns, names).unwrap());
        places.filter_map(|(part, at)| Some((part.name(), at?))).collect::<Vec<_>>()
    };
    assert_eq!(found(&usual, "loc"), [("url", 0)]);
    assert_eq!(found(&usual, "id URL Images LastMod section"), [("url", 1), ("lastmod", 3), ("images", 2)]);
    assert_eq!(found(&usual, "loc NEWS videos"), [("url", 0), ("videos", 2), ("news", 1)]);
    assert_eq!(found(&usual, "url loc url loc"), [("url", 1)]);
    let said: Columns = "url=page,lastmod=updated_at".parse().unwrap();
    assert_eq!(found(&said, "loc updated_at Page"), [("url", 2), ("lastmod", 1)]);
    let with_section = said.with_section(" Type ").unwrap();
    assert_eq!(
        found(&with_section, "type loc updated_at Page"),
        [("url", 3), ("section", 0), ("lastmod", 2)]
    );
    // A name is that of the part for which it is given, even if it is the usual name of another.
    let crossed: Columns = "priority=lastmod,changefreq=URL,lastmod=loc".parse().unwrap();
    assert!(places(&crossed, "url lastmod loc").is_err(), "there is no column for the URL");
    let crossed: Columns = "url=images,priority=lastmod,lastmod=loc".parse().unwrap();
    assert_eq!(found(&crossed, "loc lastmod images"), [("url", 2), ("lastmod", 0), ("priority", 1)]);
    // Only digits are a position.
    let signed: Columns = "url=+1,lastmod=day".parse().unwrap();
    assert_eq!((signed.positions(), found(&signed, "+1 day")), (None, vec![("url", 0), ("lastmod", 1)]));
    for wrong in ["url=0", "url=1,lastmod=1", "url=1,lastmod=day", "lastmod=1", "url=99999999999999999999"] {
        assert!(wrong.parse::<Columns>().is_err(), "{wrong}");
    }
    let numbers = Columns::of_names([("url", "0"), ("lastmod", "a,b")]).unwrap().with_section("7").unwrap();
    assert_eq!(numbers.positions(), None);
    assert_eq!(found(&numbers, "7 url a,b 0"), [("url", 3), ("section", 0), ("lastmod", 2)]);
    assert!(Columns::of_names([("url", "a"), ("lastmod", "A")]).is_err());
    let positions: Columns = "url=1,lastmod=3".parse().unwrap();
    assert_eq!(positions.with_section("2").unwrap().positions().unwrap()[..3], [Some(0), Some(1), Some(2)]);
    assert!(positions.with_section("type").is_err() && positions.with_section("3").is_err());
    for taken in ["page", "lastmod", " Images"] {
        let said: Columns = "url=page,images=photos".parse().unwrap();
        let is_taken = usual.with_section(taken).is_err() || said.with_section(taken).is_err();
        assert!(is_taken, "{taken}");
    }
    assert!(said.with_section("lastmod").is_ok(), "another column holds it");
    let missing = |columns, names| places(columns, names).unwrap_err().message("key").to_string();
    assert!(
        missing(&usual, "a b").starts_with("no key loc or url, only: a, b; choose the ones to read with")
    );
    assert!(missing(&said, "page loc").starts_with("no key updated_at, only: page, loc"));
    let none = usual.places(&[]).unwrap_err().message("column").to_string();
    assert_eq!(none, "there are no columns; give a column loc or url with the URLs");
    let mistyped = missing(&usual.with_section("typ").unwrap(), "url type");
    assert_eq!(mistyped, "no key typ, only: url, type; correct `section_column`");
    for wrong in ["", "url", "url=", "=x", "page=url", "url=a,url=b", "url=a,loc=b", "url=a,", "section=type"]
    {
        assert!(wrong.parse::<Columns>().is_err(), "{wrong}");
    }
    let twice = "url=a,lastmod=d,changefreq=D".parse::<Columns>().unwrap_err();
    assert_eq!(twice, "column d is used for both lastmod and changefreq");
}
