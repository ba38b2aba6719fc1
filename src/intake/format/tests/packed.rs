//! Text that is packed or in another charset.

use std::io::Write;

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn packed_text_is_unpacked_member_by_member() {
    let [first, second] = [&b"loc,lastmod\nu1,1\nu"[..], b"2,2\n"];
    let want = ["2@12 u1|1||", "3@17 u2|2||"];
    let zstd = |bytes| zstd::encode_all(bytes, 1).unwrap();
    let skipped = b"\x50\x2a\x4d\x18\x04\0\0\0what".to_vec();
    for (packed, packing) in [
        ([first, second].concat(), Packing::None),
        ([gzip(first), gzip(second)].concat(), Packing::Gzip),
        ([skipped, zstd(first), zstd(second)].concat(), Packing::Zstd),
    ] {
        check_with(&FormatOptions::default(), "-", &packed, Format::Csv, &want);
        assert_eq!(read_all("-", &packed, &FormatOptions::default()).unwrap().0.packing, packing);
    }
    let sitemap = gzip(b"<urlset><url><loc>u</loc></url></urlset>");
    check_with(&FormatOptions::default(), "s.xml.gz", &sitemap, Format::Sitemap, &["1@8 u|||"]);
}

#[test]
fn zeros_after_gzip_members_are_padding_and_other_bytes_are_refused() {
    let members = [gzip(b"u1\n"), gzip(b"u2\n")].concat();
    let rows = ["1@0 u1|||", "2@3 u2|||"];
    // Also more zeros than the read buffer holds.
    for zeros in [0, 1, 600_000] {
        let padded = [&members[..], &vec![0; zeros]].concat();
        check_with(&FormatOptions::default(), "-", &padded, Format::Text, &rows);
        let at = padded.len();
        let said = format!(
            "the gzip data ends at byte {at}, and other bytes follow; fetch it again, or decompress it"
        );
        check_refused(&FormatOptions::default(), "a.gz", [&padded[..], b"\nend"].concat(), &said);
        let cut = [&padded[..], &gzip(b"u3")[..9]].concat();
        check_refused(&FormatOptions::default(), "a.gz", cut, "the gzip data ends too early, at byte");
    }
}

#[test]
fn a_tar_archive_is_refused_however_it_is_packed() {
    let none = FormatOptions::default();
    for magic in [b"ustar\x0000", b"ustar  \0"] {
        let mut archive = vec![0; 1024];
        archive[..5].copy_from_slice(b"a.txt");
        archive[257..265].copy_from_slice(magic);
        archive[512..530].copy_from_slice(b"http://h.example/\n");
        let zstd = zstd::encode_all(&archive[..], 1).unwrap();
        for (name, packed) in [("a.tar", archive.clone()), ("a.tgz", gzip(&archive)), ("a.tar.zst", zstd)] {
            let said =
                format!("is a tar archive, which sitemill does not read; pipe it in: tar -xOf '{name}' |");
            check_refused(&none, name, &packed, &said);
            check_refused(&none, "-", &packed, "tar -xOf FILE | sitemill build - …");
        }
    }
    // Headers of Unix version 7 have only a sum.
    let mut archive = vec![0; 1024];
    archive[..5].copy_from_slice(b"a.txt");
    archive[100..107].copy_from_slice(b"000644 ");
    archive[148..156].fill(b' ');
    let sum: u32 = archive.iter().map(|&byte| u32::from(byte)).sum();
    archive[148..156].copy_from_slice(format!("{sum:6o}\0 ").as_bytes());
    archive[512..530].copy_from_slice(b"http://h.example/\n");
    check_refused(&none, "a.tar", &archive, "is a tar archive, which sitemill does not read");
    archive[0] = b'b';
    assert!(read_all("-", &archive, &none).is_ok(), "the checksum is wrong");
    // A URL may have the word in the same place.
    let line = format!("http://h.example/{}ustar", "x".repeat(257 - 17));
    assert!(read_all("-", line.as_bytes(), &none).is_ok());
}

#[test]
fn bzip2_is_unpacked() {
    let mut packed = Vec::new();
    for part in [&b"http://h.example/\nu"[..], b"2\n"] {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(part).unwrap();
        packed.extend(encoder.finish().unwrap());
    }
    let want = ["1@0 http://h.example/|||", "2@18 u2|||"];
    check_with(&FormatOptions::default(), "-", &packed, Format::Text, &want);
}

#[test]
fn packed_data_that_ends_too_early_or_cannot_be_unpacked_is_refused() {
    let none = FormatOptions::default();
    let lines: Vec<u8> = (0..50_000).flat_map(|n| format!("http://h.example/{n}\n").into_bytes()).collect();
    let packed = gzip(&lines);
    for bytes in [20, packed.len() / 2, packed.len() - 1] {
        let said = format!("the gzip data ends too early, at byte {bytes}; recreate the file");
        check_refused(&none, "a.gz", &packed[..bytes], &said);
    }
    let packed = zstd::encode_all(&lines[..], 1).unwrap();
    check_refused(&none, "a.zst", &packed[..packed.len() / 2], "the zstd data ends too early, at byte ");
    let mut damaged = gzip(&lines);
    let last = damaged.len() - 6;
    damaged[last] ^= 1;
    check_refused(&none, "a.gz", damaged, "the gzip data is damaged before byte ");
    check_refused(&none, "a.gz", gzip(&gzip(b"u")), "is compressed twice");
    // RFC 8878, 3.1.1.1: a frame with a window of 256 MiB, whose last block is one raw byte.
    let wide = b"\x28\xB5\x2F\xFD\0\x90\x09\0\0u";
    let way_out = "(a window over 128 MiB); pipe it in: zstd -dc -M2048MB 'a.zst' | sitemill build - …";
    check_refused(&none, "a.zst", wide, way_out);
    check_refused(
        &none,
        "a.xz",
        b"\xFD7zXZ\0...",
        "is xz, which sitemill does not read; pipe it in: xz -dc 'a.xz' | sitemill build - …",
    );
    check_refused(&none, "-", b"\xFD7zXZ\0...", "pipe it in: xz -dc FILE | sitemill build - …");
    let wide = |text: &str, bytes: fn(u32) -> [u8; 4]| -> Vec<u8> {
        text.chars().flat_map(|character| bytes(character.into())).collect()
    };
    for (text, bytes, charset) in [
        ("\u{feff}http://h.example/", u32::to_le_bytes as fn(u32) -> [u8; 4], "UTF-32"),
        ("\u{feff}<urlset/>", u32::to_be_bytes, "UTF-32"),
        ("<urlset/>", u32::to_le_bytes, "UTF-32LE"),
        ("<urlset/>", u32::to_be_bytes, "UTF-32BE"),
    ] {
        let said =
            format!("is UTF-32, which sitemill does not read; pipe it in: iconv -f {charset} -t UTF-8 'a' |");
        check_refused(&none, "a", wide(text, bytes), &said);
    }
    check_refused(
        &none,
        "a.zip",
        b"PK\x03\x04...",
        "is a zip archive, which sitemill does not read; pipe it in: unzip -p",
    );
    for (name, content) in [
        ("a.XLSX", &b"PK\x03\x04..."[..]),
        ("-", b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0AAAABBBBCCCC\x13\0\0\0[Content_Types].xml"),
        ("a.xls", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1..."),
    ] {
        check_refused(&none, name, content, "save it as CSV");
    }
    for (content, want) in [
        (
            &b"ARROW1\0\0\xFF\xFF\xFF\xFF"[..],
            "is Arrow (Feather), which sitemill reads only from code; save it as",
        ),
        (b"\xFF\xFF\xFF\xFF\x80\0\0\0", "is Arrow (Feather)"),
        (b"ORC\n\x0F\0\0", "is ORC; save it as Parquet"),
        (b"PARE\x2C\0\0\0...", "is encrypted Parquet; save it without encryption"),
        (b"Obj\x01\x04\x14avro.codec", "is Avro; save it as Parquet or JSON lines"),
        (b"SQLite format 3\0", "is an SQLite database; export it: sqlite3 -header -csv"),
        (b"\x80\x05\x95", "is a Python pickle; save it as Parquet or CSV"),
        (b"\x04\x22\x4D\x18@", "is lz4, which sitemill does not read; pipe it in: lz4 -dc 'a' |"),
        (b"\xFF\x06\0\0sNaPpY", "is snappy, which sitemill does not read; pipe it in: snzip -dc 'a' |"),
        (b"\x89LZO\0\r\n", "is lzo, which sitemill does not read; pipe it in: lzop -dc 'a' |"),
        (b"x\x9C\xCB\0", "is zlib, which sitemill does not read; pipe it in: pigz -dc < 'a' |"),
        (b"x^\xCB\0", "is zlib, which sitemill does not read"),
        (b"7z\xBC\xAF\x27\x1C", "is a 7z archive, which sitemill does not read; pipe it in: 7z x -so 'a' |"),
        (
            b"Rar!\x1A\x07\x01\0",
            "is a RAR archive, which sitemill does not read; pipe it in: unrar p -inul 'a' |",
        ),
        (b"SEQ\x06", "is a sequence file of Hadoop; save it as text: hdfs dfs -text"),
        (b"%PDF-1.7\n", "is a PDF document; save the list as text or CSV"),
    ] {
        check_refused(&none, "a", content, want);
    }
    check("-", "ORCID,url\n1,u\n", Format::Csv, &["2@10 u|||"]);
    check("-", "PARENT,url\n1,u\n", Format::Csv, &["2@11 u|||"]);
    check("-", "x^y,url\n1,u\n", Format::Csv, &["2@8 u|||"]);
    check("-", "x\x01url\n1\x01u\n", Format::Csv, &["2@6 u|||"]);
    check("-", "x^y\x01url\n1\x01u\n", Format::Csv, &["2@8 u|||"]);
    for name in ["a.xlsx", "a.ods", "a.txt.xz", "a.lzma", "a.zip", "a.7z"] {
        check_refused(
            &none,
            name,
            b"http://h.example/",
            "though its name says so; set the format with `format`",
        );
    }
    check_refused(&none, "a", b"PAR1...", "Parquet can be read from a plain file only");
    check_refused(&none, "a.parquet", b"u\n", "is not Parquet, though its name says so");
}

#[test]
fn other_charsets_become_utf_8_and_invalid_bytes_make_a_bad_row() {
    let with = |label: &str| FormatOptions {
        input_encoding: Encoding::for_label(label.as_bytes()),
        ..FormatOptions::default()
    };
    check_with(&with("latin1"), "-", b"u\xFC\n", Format::Text, &["1@0 uü|||"]);
    check_with(
        &with("shift_jis"),
        "-",
        b"loc,x\n\x93\xFA\x96\x7B,1\n\xFFu,1\nu,\xFF\n",
        Format::Csv,
        &["2@6 日本|||", r"3@15 !bad-encoding \xffu,1", "4@20 u|||"],
    );
    check_with(
        &with("utf-8"),
        "-",
        b"a\n\xE9\nb\n",
        Format::Text,
        &["1@0 a|||", r"2@2 !bad-encoding \xff", "3@4 b|||"],
    );
    check_with(&with("latin1"), "-", b"{\"loc\":\"\xFC\"}", Format::Jsonl, &["1@0 ü|||"]);
    // Without an option, bytes stay as they are. UTF-16 and XML declare their charset.
    check_with(&FormatOptions::default(), "-", b"u\xFC\n", Format::Text, &[r"1@0 u\xfc|||"]);
    let utf_16: Vec<u8> = "\u{feff}loc\tlastmod\nü\t1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check_with(&FormatOptions::default(), "-", &utf_16, Format::Tsv, &["2@12 ü|1||"]);
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let utf_16: Vec<u8> =
            "<urlset><url><loc>ü</loc></url></urlset>".encode_utf16().flat_map(bytes).collect();
        check_with(&FormatOptions::default(), "-", &utf_16, Format::Sitemap, &["1@8 ü|||"]);
    }
    for (bytes, label) in
        [(u16::to_le_bytes as fn(u16) -> [u8; 2], "utf-16le"), (u16::to_be_bytes, "utf-16be")]
    {
        let unmarked: Vec<u8> = "loc\tlastmod\nu\t1".encode_utf16().flat_map(bytes).collect();
        let want = format!("is in UTF-16; use `input_encoding: {label}`");
        check_refused(&FormatOptions::default(), "a.tsv", &unmarked, &want);
        check_with(&with(label), "a.tsv", &unmarked, Format::Tsv, &["2@12 u|1||"]);
    }
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><urlset><url><loc>\xFC</loc></url></urlset>";
    check_with(&FormatOptions::default(), "-", latin, Format::Sitemap, &["1@51 ü|||"]);
}

#[test]
fn a_byte_order_mark_overrides_the_charset_of_the_option() {
    let said = |encoding| FormatOptions { input_encoding: Some(encoding), ..FormatOptions::default() };
    let xml = "<?xml version='1.0' encoding='UTF-8'?><urlset><url><loc>ü</loc></url></urlset>";
    for (text, format, want) in [
        ("ü\nü\n", Format::Text, &["1@0 ü|||", "2@3 ü|||"][..]),
        ("loc,lastmod\nü,1\n", Format::Csv, &["2@12 ü|1||"]),
        (xml, Format::Sitemap, &["1@46 ü|||"]),
    ] {
        let text = format!("\u{feff}{text}");
        let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for encoding in [encoding_rs::WINDOWS_1252, encoding_rs::UTF_8, encoding_rs::UTF_16LE] {
            for bytes in [text.as_bytes(), &utf_16] {
                check_with(&said(encoding), "-", bytes, format, want);
            }
        }
    }
}

#[test]
fn transcoding_in_pieces_gives_the_same_result_as_decoding_at_once() {
    let text: String = (0..40_000).map(|n| ['a', 'ü', '日', '𝄞', '\n'][n * n % 5]).collect();
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for step in [1, 3, 65_537] {
        let slow = Slow(Cursor::new(utf_16.clone()), step);
        let mut got = String::new();
        charset::Transcoded::new(slow, encoding_rs::UTF_16BE).read_to_string(&mut got).unwrap();
        assert!(got == text, "step {step}");
    }
}

#[test]
fn documents_in_one_text_must_have_one_charset() {
    let document = |encoding: &str, url: &[u8]| {
        let head = format!("<?xml version='1.0'{encoding}?><urlset><url><loc>");
        [head.as_bytes(), url, b"</loc></url></urlset>\n"].concat()
    };
    let latin = document(" encoding='ISO-8859-1'", b"\xFC");
    let utf_8 = document(" encoding='UTF-8'", "ü".as_bytes());
    let unnamed = document("", "ü".as_bytes());
    let utf_16 = String::from_utf8(document(" encoding='UTF-16'", "ü".as_bytes())).unwrap();
    let utf_16: Vec<u8> = format!("\u{feff}{utf_16}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let none = FormatOptions::default();
    let said = |encoding| FormatOptions { input_encoding: Some(encoding), ..FormatOptions::default() };
    for two in [[&latin, &utf_8], [&utf_8, &latin], [&latin, &unnamed]] {
        let xml = two.map(Vec::as_slice).concat();
        check_refused(&none, "s.xml", &xml, "set one charset for all with `input_encoding`");
        assert_eq!(read_all("s.xml", &xml, &said(encoding_rs::WINDOWS_1252)).unwrap().0.rows, 2);
    }
    for two in [[&latin, &latin], [&utf_8, &unnamed], [&unnamed, &utf_8], [&utf_16, &utf_16]] {
        let (found, rows) = read_all("s.xml", &two.map(Vec::as_slice).concat(), &none).unwrap();
        assert_eq!(found.rows, 2);
        assert!(rows.iter().all(|row| row.ends_with(" ü|||")), "{rows:?}");
    }
}

#[test]
fn a_sitemap_index_is_plain_or_gzipped_utf_8() {
    let text = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>";
    let index = text.as_bytes();
    let is_index = |packed: Vec<u8>| {
        is_index(Path::new("i.xml"), Box::new(Cursor::new(packed)), &FormatOptions::default())
    };
    assert!(is_index(index.to_vec()).unwrap() && is_index(gzip(index)).unwrap());
    let error = is_index(zstd::encode_all(index, 1).unwrap()).unwrap_err();
    let said = "i.xml: is a sitemap index in zstd; an index file must be plain or gzipped, so unpack it";
    assert_eq!((error.kind(), &*error.to_string()), (crate::ErrorKind::Data, said));
    assert!(!is_index(zstd::encode_all(&b"<urlset/>"[..], 1).unwrap()).unwrap());
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let said = "i.xml: is a sitemap index in UTF-16BE; an index file must be in UTF-8, so convert it";
    for packed in [utf_16(text), gzip(&utf_16(&format!("\u{feff}{text}")))] {
        assert_eq!(is_index(packed).unwrap_err().to_string(), said);
    }
    assert!(!is_index(utf_16("<urlset/>")).unwrap());
}

#[test]
fn xml_in_another_charset_than_the_option_says_is_refused_with_the_option() {
    let options = FormatOptions { input_encoding: Some(encoding_rs::UTF_8), ..FormatOptions::default() };
    let xml = b"<?xml version='1.0' encoding='windows-1251'?><urlset><url><loc>\xCC</loc></url></urlset>";
    let want = "byte 63: is not valid in the charset of the text; set that with `input_encoding`";
    check_refused(&options, "s.xml", xml, want);
    assert!(read_all("s.xml", xml, &FormatOptions::default()).is_ok());
}
