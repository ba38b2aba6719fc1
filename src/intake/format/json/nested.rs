//! Keys of objects in an object, named with dots: `page.url`.

use crate::intake::format::columns::Columns;
use crate::intake::format::shapes::members;

/// The keys of the object `line`. Instead of a key that holds an object, those in that object.
pub fn names(line: &str) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    for (key, json) in members(line).into_iter().flatten() {
        match members(json).filter(|inner| !inner.is_empty()) {
            Some(inner) => names.extend(inner.iter().map(|(inner, _)| format!("{key}.{inner}").into_bytes())),
            None => names.push(key.as_bytes().to_vec()),
        }
    }
    names
}

/// The keys in the object `json`, which `key` holds, each with its value. Instead of a key that leads to one of `columns`, those
/// below it. If `json` is neither an object nor null, `key` itself.
#[cold]
pub fn values<'a>(columns: &Columns, key: &str, json: &'a str) -> Vec<(String, &'a str)> {
    let Some(members) = members(json) else {
        return if json == "null" { Vec::new() } else { vec![(key.to_owned(), json)] };
    };
    let mut found = Vec::new();
    for (inner, json) in members {
        let name = format!("{key}.{inner}");
        let leads_on = columns.part_of(name.as_bytes()).is_none() && columns.are_below(name.as_bytes());
        match leads_on {
            true => found.extend(values(columns, &name, json)),
            false => found.push((name, json)),
        }
    }
    found
}
