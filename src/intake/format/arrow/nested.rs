//! Writes lists, structs and maps as JSON, the form of extension values in every other kind of table.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::encoded::encoded;
use super::kind::Kind;
use super::texts::Texts;
use super::typed::push_typed;
use crate::intake::format::typed_text::push_json_string;

/// Writes the value of the row `at` as JSON. A field of a struct that is null is left out.
pub fn push_json(array: &ArrayRef, at: usize, out: &mut Vec<u8>) {
    if array.is_null(at) {
        return out.extend(b"null");
    }
    match array.data_type() {
        DataType::List(_) => push_list(&array.as_list::<i32>().value(at), out),
        DataType::LargeList(_) => push_list(&array.as_list::<i64>().value(at), out),
        DataType::ListView(_) => push_list(&array.as_list_view::<i32>().value(at), out),
        DataType::LargeListView(_) => push_list(&array.as_list_view::<i64>().value(at), out),
        DataType::FixedSizeList(..) => push_list(&array.as_fixed_size_list().value(at), out),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let members = fields.iter().zip(columns).filter(|(_, column)| column.is_valid(at));
            push_members(members.map(|(field, column)| (field.name().as_bytes(), column, at)), out);
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(at);
            let (keys, values) = (entries.column(0), entries.column(1));
            let mut names = Vec::new();
            for row in 0..entries.len() {
                let mut name = Vec::new();
                push_plain(keys, row, &mut name);
                names.push(name);
            }
            let members = names.iter().enumerate().filter(|(row, _)| values.is_valid(*row));
            push_members(members.map(|(row, name)| (&**name, values, row)), out);
        }
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
            let row = array.slice(at, 1);
            match encoded(&row).and_then(|(keys, values)| Some((keys[0]?, values))) {
                Some((key, values)) => push_json(values, key, out),
                None => out.extend(b"null"),
            }
        }
        _ => {
            let mut text = Vec::new();
            push_plain(array, at, &mut text);
            push_json_string(&text, out);
        }
    }
}

fn push_list(values: &ArrayRef, out: &mut Vec<u8>) {
    out.push(b'[');
    for at in 0..values.len() {
        if at > 0 {
            out.push(b',');
        }
        push_json(values, at, out);
    }
    out.push(b']');
}

/// Writes an object of members: name, and the column and row of the value.
fn push_members<'m>(members: impl Iterator<Item = (&'m [u8], &'m ArrayRef, usize)>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (number, (name, values, at)) in members.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        push_json_string(name, out);
        out.push(b':');
        push_json(values, at, out);
    }
    out.push(b'}');
}

/// Writes a value that is neither a list nor a struct as if it came from a separate column. Writes nothing for null.
fn push_plain(array: &ArrayRef, at: usize, out: &mut Vec<u8>) {
    match Kind::of_any(array.data_type()) {
        Kind::Text => out.extend(Texts::of(array).value(at).unwrap_or_default()),
        Kind::Typed(column_type) if array.is_valid(at) => push_typed(column_type, array, at, out),
        Kind::Typed(_) | Kind::Null | Kind::Nested => {}
    }
}
