//! Code for all extensions with child elements: values are checked, and written by `urls`, by their fields.

use serde_json::{Map, Value};

use super::extension::{Element, Elements, Found, text};
use super::fields::{Field, FieldKind, Occurs};
use crate::commands::check::rules::Rule;

/// Checks every kept value by its field, and the attributes that its element needs.
pub(crate) fn judge(fields: &[Field], rule: Rule, elements: Elements<'_>, found: &mut Found<'_>) {
    for element in elements.iter() {
        for (number, field) in fields.iter().enumerate() {
            for value in element.all(number) {
                if let Err(wrong) = (field.check)(value) {
                    found(rule, &format!("{}: {wrong}", field.key), value);
                }
            }
            let is_missing = field.occurs == Occurs::Once && element.get(number).is_none();
            if matches!(field.kind, FieldKind::Attribute(_)) && is_missing {
                let of_text = |other: &Field| other.is_child(field.parent, field.element);
                if fields.iter().position(of_text).is_some_and(|text| element.get(text).is_some()) {
                    found(rule, &format!("no {}", field.key), b"");
                }
            }
        }
    }
}

/// Returns the values of all fields as an object. A field that may occur several times is an array.
pub(crate) fn to_json(fields: &[Field], element: Element<'_>) -> Value {
    let mut object = Map::new();
    for (number, field) in fields.iter().enumerate().filter(|(_, field)| field.kind != FieldKind::Parent) {
        let value = match field.occurs {
            Occurs::AtMost(_) => Some(Value::Array(element.all(number).map(text).collect())),
            _ => element.get(number).map(text),
        };
        let Some(value) = value.filter(|value| value.as_array().is_none_or(|all| !all.is_empty())) else {
            continue;
        };
        match field.key.split_once('.') {
            None => drop(object.insert(field.key.into(), value)),
            Some((outer, inner)) => {
                let nested = object.entry(outer).or_insert_with(|| Value::Object(Map::new()));
                nested[inner] = value;
            }
        }
    }
    Value::Object(object)
}
