//! Writes lists, structs and maps as JSON, the form of extension values in every other kind of table.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::encoded::encoded;
use super::kind::Kind;
use super::texts::Texts;
use super::typed::push_typed;
use crate::intake::format::typed_text::{push_json_name, push_json_string};

/// Writes the value of the row `at` as JSON. A field of a struct that is null is left out.
pub fn push_json(array: &ArrayRef, at: usize, out: &mut Vec<u8>) {
    match array.data_type() {
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => match decoded(array, at) {
            Some((values, key)) => push_json(&values, key, out),
            None => out.extend(b"null"),
        },
        _ if !has_value(array, at) => out.extend(b"null"),
        DataType::List(_) => push_list(&array.as_list::<i32>().value(at), out),
        DataType::LargeList(_) => push_list(&array.as_list::<i64>().value(at), out),
        DataType::ListView(_) => push_list(&array.as_list_view::<i32>().value(at), out),
        DataType::LargeListView(_) => push_list(&array.as_list_view::<i64>().value(at), out),
        DataType::FixedSizeList(..) => push_list(&array.as_fixed_size_list().value(at), out),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter();
            let members = fields.iter().zip(columns).filter(|(_, column)| has_value(column, at));
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
            let members = names.iter().enumerate().filter(|(row, _)| has_value(values, *row));
            push_members(members.map(|(row, name)| (&**name, values, row)), out);
        }
        _ => {
            let mut text = Vec::new();
            push_plain(array, at, &mut text);
            push_json_string(&text, out);
        }
    }
}

/// Whether the row `at` has a value. Arrays of type null and of runs have no buffer that says so, and the key of a dictionary may
/// be that of null.
fn has_value(array: &ArrayRef, at: usize) -> bool {
    match array.data_type() {
        DataType::Null => false,
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
            decoded(array, at).is_some_and(|(values, key)| has_value(&values, key))
        }
        _ => array.is_valid(at),
    }
}

/// The values of a dictionary or of runs, and the index of the one of the row `at`, if it has one.
fn decoded(array: &ArrayRef, at: usize) -> Option<(ArrayRef, usize)> {
    let row = array.slice(at, 1);
    let (keys, values) = encoded(&row)?;
    Some((values.clone(), keys[0]?))
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
        push_json_name(name, out);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        DictionaryArray, Int32Array, ListArray, MapArray, NullArray, RunArray, StringArray, StructArray,
    };
    use arrow_schema::Field;

    use super::*;

    /// Arrays of two rows. The first is null in all of them, in every way that there is.
    fn arrays() -> [(&'static str, ArrayRef); 5] {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("v")]));
        let dictionary = |keys: Vec<Option<i32>>, values| {
            Arc::new(DictionaryArray::<Int32Type>::new(Int32Array::from(keys), values))
        };
        let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1, 2]), &*texts).unwrap();
        [
            ("texts", texts.clone()),
            ("keys", dictionary(vec![None, Some(1)], texts.clone())),
            ("values", dictionary(vec![Some(0), Some(1)], texts)),
            ("runs", Arc::new(runs)),
            ("nulls", Arc::new(NullArray::new(2))),
        ]
    }

    fn json(array: ArrayRef, at: usize) -> String {
        let mut json = Vec::new();
        push_json(&array, at, &mut json);
        String::from_utf8(json).unwrap()
    }

    fn with_fields<const N: usize>(columns: [(&str, ArrayRef); N]) -> StructArray {
        let field = |name, array: &ArrayRef| Field::new(name, array.data_type().clone(), array.is_nullable());
        StructArray::from(columns.map(|(name, array)| (Arc::new(field(name, &array)), array)).to_vec())
    }

    #[test]
    fn a_member_without_a_value_is_left_out_however_null_is_encoded() {
        let row: ArrayRef = Arc::new(with_fields(arrays()));
        assert_eq!(json(row.clone(), 0), "{}");
        assert_eq!(json(row, 1), r#"{"texts":"v","keys":"v","values":"v","runs":"v"}"#);
        let both = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(0); 2])]);
        for (name, values) in arrays() {
            let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
            let entries = with_fields([("key", names), ("value", values)]);
            let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
            let map = MapArray::new(field, both.offsets().clone(), entries, None, false);
            assert_eq!(json(Arc::new(map), 0), if name == "nulls" { "{}" } else { r#"{"b":"v"}"# }, "{name}");
        }
    }

    #[test]
    fn an_element_without_a_value_is_null_however_null_is_encoded() {
        for (name, array) in arrays() {
            assert_eq!(json(array.clone(), 0), "null", "{name}");
            assert_eq!(json(array, 1), if name == "nulls" { "null" } else { r#""v""# }, "{name}");
        }
    }
}
