//! Values: the text of elements, with references resolved.

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::BytesRef;

use crate::intake::format::row::VALUE_BYTES_KEPT;

/// Appends `part` to `value`, of which [`VALUE_BYTES_KEPT`] bytes are kept.
#[inline]
pub fn push_text(part: &str, value: &mut Vec<u8>) {
    let room = VALUE_BYTES_KEPT.saturating_sub(value.len());
    value.extend_from_slice(&part.as_bytes()[..part.len().min(room)]);
}

/// Calls `act` with the text that a reference such as `&amp;` stands for. Returns false if it stands for none.
pub fn resolve(name: &BytesRef<'_>, act: impl FnOnce(&str)) -> bool {
    match (name.resolve_char_ref(), resolve_xml_entity(name)) {
        (Ok(Some(char)), _) => act(char.encode_utf8(&mut [0; 4])),
        (Ok(None), Some(text)) => act(text),
        _ => return false,
    }
    true
}
