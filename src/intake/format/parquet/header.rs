//! The sizes in page headers: struct `PageHeader` of `parquet.thrift`, in the compact protocol of Thrift.

/// The sizes of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageHeader {
    pub is_dictionary: bool,
    /// Bytes in the file.
    pub compressed_bytes: u64,
    /// Bytes in memory.
    pub plain_bytes: u64,
    /// Bytes of levels, which are part of both and never compressed: only in pages of the second version.
    pub level_bytes: u64,
}

/// `PageType.DICTIONARY_PAGE`
const DICTIONARY_PAGE: i32 = 2;

/// Types of fields in the compact protocol.
const STOP: u8 = 0;
const I32: u8 = 5;
const STRUCT: u8 = 12;

impl PageHeader {
    /// Reads the header at the start of `bytes`; `None` if its sizes cannot be read.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut fields = ThriftFields { bytes, id: 0 };
        let mut numbers: [Option<i32>; 5] = [None; 5];
        let mut level_bytes = Some(0);
        // 1: type, 2: uncompressed_page_size, 3: compressed_page_size, 4: crc, 8: data_page_header_v2
        while let Some((id, kind)) = fields.next_field() {
            match (id, kind) {
                (1..=4, I32) => numbers[id as usize] = Some(fields.i32()?),
                (8, STRUCT) => {
                    level_bytes = fields.level_bytes();
                    break;
                }
                _ => break,
            }
        }
        let bytes = |number: Option<i32>| u64::try_from(number?).ok();
        Some(Self {
            is_dictionary: numbers[1]? == DICTIONARY_PAGE,
            plain_bytes: bytes(numbers[2])?,
            compressed_bytes: bytes(numbers[3])?,
            level_bytes: level_bytes?,
        })
    }
}

/// The fields of a struct, one after the other.
struct ThriftFields<'b> {
    bytes: &'b [u8],
    id: i16,
}

impl ThriftFields<'_> {
    /// The next field's number and type; `None` at the end of the struct.
    fn next_field(&mut self) -> Option<(i16, u8)> {
        let head = self.byte()?;
        let (delta, kind) = (head >> 4, head & 0xF);
        if kind == STOP {
            return None;
        }
        self.id = match delta {
            0 => i16::try_from(self.i32()?).ok()?,
            delta => self.id.checked_add(delta.into())?,
        };
        Some((self.id, kind))
    }

    /// The sum of two fields of struct `DataPageHeaderV2`, 5: definition_levels_byte_length and 6: repetition_levels_byte_length.
    fn level_bytes(&mut self) -> Option<u64> {
        self.id = 0;
        let mut bytes = 0;
        while let Some((id, I32)) = self.next_field() {
            let number = self.i32()?;
            if matches!(id, 5 | 6) {
                bytes += u64::try_from(number).ok()?;
            }
        }
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    /// Takes a number in zigzag with seven bits per byte. Bits beyond 32 are cut off, as in the crate.
    fn i32(&mut self) -> Option<i32> {
        let mut number = 0_u64;
        for shift in (0..).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F).wrapping_shl(shift);
            if byte < 0x80 {
                break;
            }
        }
        Some(((number >> 1) as i64 ^ -((number & 1) as i64)) as i32)
    }
}
