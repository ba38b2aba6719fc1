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

/// Gives `take` the keys in the object `json`, which the key `path` holds, each with its value. Instead of a key that leads to one
/// of `columns`, those below it. If `json` is neither an object nor null, `path` itself. Afterwards, `path` is as before.
///
/// # Errors
/// Those of `take`.
pub fn each_value<'a, E>(
    columns: &Columns,
    path: &mut String,
    json: &'a str,
    take: &mut impl FnMut(&str, &'a str) -> Result<(), E>,
) -> Result<(), E> {
    let Some(members) = members(json) else {
        return if json == "null" { Ok(()) } else { take(path, json) };
    };
    let above = path.len();
    for (inner, json) in members {
        path.push('.');
        path.push_str(&inner);
        let leads_on = columns.part_of(path.as_bytes()).is_none() && columns.are_below(path.as_bytes());
        match leads_on {
            true => each_value(columns, path, json, take)?,
            false => take(path, json)?,
        }
        path.truncate(above);
    }
    Ok(())
}
