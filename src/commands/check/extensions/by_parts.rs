//! What all extensions with child elements have in common: values are checked, and written by `urls`, by their parts.

use serde_json::{Map, Value};

use super::extension::{Element, Elements, Found, text};
use super::parts::{Kind, Occurs, Part};
use crate::commands::check::rules::Rule;

/// Checks every kept value by its part, and the attributes that its element needs.
pub(crate) fn judge(parts: &[Part], rule: Rule, elements: Elements<'_>, found: &mut Found<'_>) {
    for element in elements.iter() {
        for (number, part) in parts.iter().enumerate() {
            for value in element.all(number) {
                if let Err(wrong) = (part.check)(value) {
                    found(rule, &format!("{}: {wrong}", part.key), value);
                }
            }
            let is_missing = part.occurs == Occurs::Once && element.get(number).is_none();
            if matches!(part.kind, Kind::Attribute(_)) && is_missing {
                let of_text = |other: &Part| other.is_child(part.parent, part.element);
                if parts.iter().position(of_text).is_some_and(|text| element.get(text).is_some()) {
                    found(rule, &format!("no {}", part.key), b"");
                }
            }
        }
    }
}

/// Returns the values of all parts as an object. A part that may occur several times is an array.
pub(crate) fn to_json(parts: &[Part], element: Element<'_>) -> Value {
    let mut object = Map::new();
    for (number, part) in parts.iter().enumerate().filter(|(_, part)| part.kind != Kind::Parent) {
        let value = match part.occurs {
            Occurs::AtMost(_) => Some(Value::Array(element.all(number).map(text).collect())),
            _ => element.get(number).map(text),
        };
        let Some(value) = value.filter(|value| value.as_array().is_none_or(|all| !all.is_empty())) else {
            continue;
        };
        match part.key.split_once('.') {
            None => drop(object.insert(part.key.into(), value)),
            Some((outer, inner)) => {
                let nested = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
                nested[inner] = value;
            }
        }
    }
    Value::Object(object)
}
