use std::collections::BTreeSet;

use site_events::event::ActiveContent::{self, EmbeddedFile, ExternalTemplate, JavaScript, Launch, Macros};

use super::{
    MAX_BYTES, ResumeError,
    ResumeKind::{self, Doc, Docx, Pdf},
    docx::{MAX_ENTRIES, MAX_LIST_BYTES},
    look,
    samples::{
        KINDS, TRAILER, WORD, archive, compound, content_types, doc, docx, docx_that_embeds, docx_with,
        is_taken, pdf, pdf_of,
    },
};

const DOCUMENT: (&str, &[u8]) = ("word/document.xml", b"<w/>");
const CONTENT_TYPES: &str = "[Content_Types].xml";

#[test]
fn each_resume_kind_is_recognized_by_its_content() {
    for (file, its) in [(pdf(), Pdf), (doc(), Doc), (docx(), Docx)] {
        for kind in KINDS {
            let other = Err(ResumeError::Content(kind));
            let expected = if kind == its { Ok(BTreeSet::new()) } else { other };
            assert_eq!(look(kind, &file), expected, "{its:?} as {kind:?}");
        }
    }
}

#[test]
fn the_last_extension_decides_the_kind() {
    for (name, kind) in [
        ("cv.pdf", Pdf),
        ("Résumé Zoë.final.DocX", Docx),
        ("C:\\cv\\cv.DOC", Doc),
        ("cv.pdf. . ", Pdf),
        ("cv.\u{200b}pdf\u{202c}", Pdf),
        ("cv.pdf\u{3164}", Pdf),
    ] {
        assert_eq!(ResumeKind::of_name(name), Some(kind), "{name}");
    }
    let others = "|cv|.pdf|pdf|cv.|run.bat|cv.html|cv.svg|a.lnk|cv.pdf.exe|cv.docm|cv.pdf .exe|\
        cv.exe\u{202e}fdp.|cv.pdf/cv|cv.rtf|cv.ｐｄｆ|cv.pdf\u{3164}.exe";
    for other in others.split('|') {
        assert_eq!(ResumeKind::of_name(other), None, "{other}");
    }
    assert!(Docx.content_type().ends_with(".wordprocessingml.document"));
}

#[test]
fn a_pdf_with_trailing_bytes_is_accepted() {
    for behind in [
        &b""[..],
        b"\r\n\0\x0c\t ",
        &[0; 900],
        &[0; 2000],
        &[b'\n'; 1_000_000],
        &[b' '; 70_000],
        b"\n<!-- made in 3 ms -->",
        b"<html><body>Thank you for your visit.</body></html>",
        b"\n--boundary--\r\n",
        &b"\xde\xad\xbe\xef".repeat(10_000),
        b"%%EO",
        b"\n%%EOF\n%%EOF\n",
        &pdf(),
    ] {
        let file = [&pdf(), behind].concat();
        assert!(is_taken(Pdf, &file), "{} bytes", behind.len());
    }
    let changed = [&pdf()[..], b"2 0 obj\n<<>>\nendobj", TRAILER].concat();
    let in_pages_order = pdf_of(&[&b"startxref\n0\n%%EOF\n"[..], &pdf()[9..]].concat());
    assert!(is_taken(Pdf, &changed) && is_taken(Pdf, &in_pages_order));
}

#[test]
fn only_harmless_bytes_may_precede_a_pdf() {
    for honest in [
        &b""[..],
        b"\n\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\r\n",
        b"Content-Type: application/pdf\r\n\r\n",
        b"\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n",
        b"% made by a script\n",
    ] {
        assert!(is_taken(Pdf, &[honest, &pdf()].concat()), "{honest:?}");
    }
    for other in [
        &b"MZ"[..],
        b"@echo off\r\nrem ",
        b"<!doctype html><script>",
        b"\r\n<script>",
        b"<svg xmlns='http://www.w3.org/2000/svg'>",
        b"L\0\0\0\x01\x14\x02\0",
        b"\x7fELF",
        b"#!/bin/sh\n",
        b"\0",
        &docx(),
        &b" ".repeat(2000),
    ] {
        assert!(!is_taken(Pdf, &[other, &pdf()].concat()), "{other:?}");
    }
}

#[test]
fn a_truncated_pdf_is_refused() {
    let whole = pdf();
    for cut in 0..whole.len() - 1 {
        assert!(!is_taken(Pdf, &whole[..cut]), "{cut}");
    }
    assert!(!is_taken(Pdf, b"%PDF-1.4"));
    assert!(!is_taken(Pdf, b"%PDF-1.4\n<script>\n%%EOF\nstartxref\n"));
}

/// Encodes an XML list in UTF-16, as .NET does.
fn wide(list: &str, bytes: fn(u16) -> [u8; 2], mark: &str) -> Vec<u8> {
    let list = format!("{mark}{}", list.replace("UTF-8", "UTF-16"));
    list.encode_utf16().flat_map(bytes).collect()
}

/// Adds a ZIP64 end record (APPNOTE 4.3.14 and 4.3.15).
fn zip64(mut file: Vec<u8>) -> Vec<u8> {
    let end = file.split_off(file.len() - 22);
    let widened = |bytes: &[u8]| [bytes, &vec![0_u8; 8 - bytes.len()]].concat();
    let (entries, bytes, start) = (&end[10..12], &end[12..16], &end[16..20]);
    let numbers = [entries, entries, bytes, start].map(widened).concat();
    let record_at = (file.len() as u64).to_le_bytes();
    [
        &file[..],
        b"PK\x06\x06",
        &44_u64.to_le_bytes(),
        &[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &numbers,
        b"PK\x06\x07\0\0\0\0",
        &record_at,
        &1_u32.to_le_bytes(),
        b"PK\x05\x06\0\0\0\0",
        &[0xff; 12],
        &[0, 0],
    ]
    .concat()
}

fn usual_types() -> String {
    content_types("/word/document.xml")
}

fn docx_of(list: impl AsRef<[u8]>) -> Vec<u8> {
    archive([(CONTENT_TYPES, list.as_ref()), DOCUMENT])
}

fn ensure_harmless<'a>(cases: impl IntoIterator<Item = (&'a str, Vec<u8>)>) {
    for (case, file) in cases {
        assert_eq!(look(Docx, &file), Ok(BTreeSet::new()), "{case}");
    }
}

#[test]
fn a_docx_is_accepted_however_it_was_packed() {
    let named = |list: &str, document: &str| {
        let types = usual_types();
        archive([
            (list, types.as_bytes()),
            ("_rels/.rels", b"<r/>"),
            (document, b"<w/>"),
        ])
    };
    let backwards = archive([DOCUMENT, (CONTENT_TYPES, usual_types().as_bytes())]);
    let twice = archive([(CONTENT_TYPES, usual_types().as_bytes()), DOCUMENT, DOCUMENT]);
    ensure_harmless([
        ("the document first", backwards),
        ("a part twice", twice),
        ("backslashes", named(CONTENT_TYPES, "word\\document.xml")),
        ("slashes", named("/[Content_Types].xml", "/word/document.xml")),
        ("other cases", named("[content_types].XML", "Word/Document.xml")),
        ("ZIP64", zip64(docx())),
        ("ZIP64 and a line", [zip64(docx()), vec![b'\n']].concat()),
    ]);
}

#[test]
fn a_docx_with_trailing_bytes_is_accepted() {
    let behind = |bytes: &[u8]| [&docx(), bytes].concat();
    ensure_harmless([
        ("a line", behind(b"\r\n")),
        ("a byte", behind(b"\0")),
        ("zeros", behind(&[0; 100_000])),
        ("spaces", behind(&[b' '; 3_000_000])),
        ("a page", behind(b"<html><body>Bye</body></html>")),
        ("a line before", [b"\xef\xbb\xbf\r\n", &docx()[..]].concat()),
    ]);
}

#[test]
fn a_docx_is_recognized_in_every_content_types_encoding() {
    let types = usual_types();
    let default = format!("<Types><Default Extension=\"xml\" ContentType=\"{WORD}\"></Default></Types>");
    let list = content_types("/word/document2.xml");
    let of_a_browser = archive([(CONTENT_TYPES, list.as_str()), ("word/document2.xml", "<w/>")]);
    let template = types.replace("document.main", "template.main");
    let wide = |bytes: fn(u16) -> [u8; 2], mark: &str| docx_of(wide(&types, bytes, mark));
    ensure_harmless([
        ("a byte order mark", docx_of(format!("\u{feff}{types}"))),
        ("UTF-16", wide(u16::to_le_bytes, "\u{feff}")),
        ("UTF-16, the other way", wide(u16::to_be_bytes, "\u{feff}")),
        ("UTF-16 without a mark", wide(u16::to_le_bytes, "")),
        ("known by its ending", docx_of(default)),
        ("Word in a browser", of_a_browser),
        ("a template", docx_of(template)),
    ]);
}

#[test]
fn usual_document_parts_are_not_active_content() {
    let chart = docx_that_embeds(&[("word/embeddings/a.xlsx", &docx())]);
    ensure_harmless([("a chart's workbook", chart)]);
    for (kind, target) in [
        ("attachedTemplate", "file:///C:\\Users\\Asha\\Letter.dotx"),
        ("attachedTemplate", "file:///home/asha/Letter.dotx"),
        ("attachedTemplate", "Letter.dotx"),
        ("hyperlink", "https://example.org/asha"),
        ("image", "https://example.org/asha.png"),
    ] {
        ensure_harmless([(target, with_relationship(kind, target))]);
    }
}

#[test]
fn archives_without_a_word_document_are_refused() {
    let usual = usual_types();
    let list = (CONTENT_TYPES, usual.as_bytes());
    let workbook = usual.replace("wordprocessingml.document.main", "spreadsheetml.sheet.main");
    let declared = format!("<!DOCTYPE t [<!ENTITY a \"b\">]>{usual}");
    let manifest = ("META-INF/MANIFEST.MF", &b"Main-Class: Run\n"[..]);
    for (case, other) in [
        ("a list alone", archive([list])),
        ("a document alone", archive([DOCUMENT])),
        ("another list", docx_of("<xml/>")),
        ("a list of nothing", docx_of(WORD)),
        ("a workbook", docx_of(workbook)),
        ("no document", archive([list, ("xl/workbook.xml", b"<x/>")])),
        ("entities", docx_of(declared)),
        ("programs", archive([manifest, ("run.bat", b"@echo off")])),
        ("nothing", archive::<&str>([])),
        ("no archive", b"PK\x03\x04 broken archive".to_vec()),
        ("half of one", docx()[..docx().len() / 2].to_vec()),
        ("a program", [b"MZ".to_vec(), docx()].concat()),
        ("a script", [b"#!/bin/sh\n".to_vec(), docx()].concat()),
        ("a PDF before", [pdf(), docx()].concat()),
    ] {
        assert_eq!(look(Docx, &other), Err(ResumeError::Content(Docx)), "{case}");
    }
}

#[test]
fn an_encrypted_document_is_reported_as_such() {
    let package = compound("/EncryptedPackage", b"secret", 2);
    assert_eq!(look(Docx, &package), Err(ResumeError::Protected));
    assert_eq!(look(Doc, &package), Err(ResumeError::Protected));
    let mut encrypted = [[0xec, 0xa5, 0xc1, 0, 0, 0, 0, 0], [0; 8]].concat().repeat(300);
    assert!(is_taken(Doc, &compound("/WordDocument", &encrypted, 0)));
    encrypted[11] |= 1;
    let encrypted = compound("/WordDocument", &encrypted, 0);
    assert_eq!(look(Doc, &encrypted), Err(ResumeError::Protected));
}

fn with_relationship(kind: &str, target: &str) -> Vec<u8> {
    let list = relationship(kind, target);
    docx_that_embeds(&[("word/_rels/settings.xml.rels", list.as_bytes())])
}

fn relationship(kind: &str, target: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Relationships><Relationship Id=\"rId1\" \
         Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}\" \
         Target=\"{target}\" TargetMode=\"External\"/></Relationships>"
    )
}

fn with_template(target: &str) -> Vec<u8> {
    with_relationship("attachedTemplate", target)
}

#[track_caller]
fn ensure_named(kind: ResumeKind, file: &[u8], expected: &[ActiveContent]) {
    assert_eq!(look(kind, file), Ok(expected.iter().copied().collect()));
}

#[test]
fn macros_are_accepted_and_reported() {
    for part in ["word/vbaProject.bin", "word\\VBAPROJECT.BIN"] {
        ensure_named(Docx, &docx_that_embeds(&[(part, b"")]), &[Macros]);
    }
    let behind = [docx_that_embeds(&[("word/vbaProject.bin", b"")]), vec![0]].concat();
    ensure_named(Docx, &behind, &[Macros]);
    let of_macros = usual_types().replace(
        "vnd.openxmlformats-officedocument.wordprocessingml.document.main",
        "vnd.ms-word.document.macroEnabled.main",
    );
    ensure_named(Docx, &docx_of(of_macros), &[Macros]);
    let renamed = usual_types().replace(
        "</Types>",
        "<Override PartName=\"/word/a.dat\" ContentType=\"application/vnd.ms-office.vbaProject\"/></Types>",
    );
    ensure_named(Docx, &docx_of(renamed), &[Macros]);
    ensure_named(Doc, &compound_with("/Macros", "/Macros/dir"), &[Macros]);
}

#[test]
fn external_templates_are_accepted_and_reported() {
    for target in [
        "http://attacker.example/a.dotm",
        "HTTPS://attacker.example/a",
        "&#104;ttp://attacker.example/a",
        "\\\\attacker.example\\a\\b.dotm",
        "//attacker.example/a",
        "file://attacker.example/a",
        "file:///\\\\attacker.example\\a",
    ] {
        ensure_named(Docx, &with_template(target), &[ExternalTemplate]);
    }
    let object = with_relationship("oleObject", "mhtml:http://attacker.example/a!x");
    ensure_named(Docx, &object, &[ExternalTemplate]);
    let list = relationship("attachedTemplate", "http://attacker.example/a");
    let list = wide(&list, u16::to_le_bytes, "\u{feff}");
    let in_utf16 = docx_that_embeds(&[("word\\_rels\\settings.xml.rels", &list)]);
    ensure_named(Docx, &in_utf16, &[ExternalTemplate]);
}

#[test]
fn embedded_files_in_documents_are_accepted() {
    for part in ["word/embeddings/oleObject1.bin", "word/embeddings/a.xlsm"] {
        ensure_named(Docx, &docx_that_embeds(&[(part, b"")]), &[]);
    }
    let object = compound_with("/ObjectPool", "/ObjectPool/\u{1}Ole10Native");
    ensure_named(Doc, &object, &[]);
}

#[test]
fn active_content_of_a_pdf_is_accepted_and_reported() {
    for (dictionary, expected) in [
        ("/OpenAction << /S /JavaScript /JS (app.alert(1)) >>", JavaScript),
        ("/OpenAction<</S/JavaScript/JS 7 0 R>>", JavaScript),
        ("/Names << /JavaScript 7 0 R >>", JavaScript),
        ("/Names<</Dests 5 0 R/JavaScript<</Names[]>>>>", JavaScript),
        ("/OpenAction<</JS<6170702E>/S/#4aavaScript>>", JavaScript),
        ("/S /J#61vaScr#69pt", JavaScript),
        ("/S /Rendition /JS (app.alert(1))", JavaScript),
        ("/S /Launch /F (cmd.exe)", Launch),
        ("/Names << /EmbeddedFiles 7 0 R >>", EmbeddedFile),
        ("/Subtype /FileAttachment", EmbeddedFile),
        ("/Type/EmbeddedFile/Length 9", EmbeddedFile),
        ("/Type /Filespec /EF << /F 7 0 R >>", EmbeddedFile),
    ] {
        let object = format!("1 0 obj\n<< {dictionary} >>\nendobj\n");
        ensure_named(Pdf, &pdf_of(object.as_bytes()), &[expected]);
        ensure_named(Pdf, &[&pdf(), object.as_bytes()].concat(), &[expected]);
    }
}

#[test]
fn text_resembling_active_content_is_not_reported() {
    for harmless in [
        "(I write JavaScript /JavaScripting and /JSON)",
        "/Title (Frontend/JavaScript developer) /Keywords (HTML/CSS/JavaScript)",
        "(HTML/JavaScript \\(5 years\\), TypeScript/JS 3 years, /JS \\(Node\\), /Launch of a product) Tj",
        "<rdf:li>HTML/JavaScript</rdf:li><rdf:li>HTML/JS</rdf:li>",
        "/Title (EmbeddedFiles)",
        "/JSX /EFG /Launcher /JS/EF",
        "/FontDescriptor 5 0 R /JS\u{e9}",
        "/J#zzavaScript #",
    ] {
        let file = pdf_of(harmless.as_bytes());
        assert_eq!(look(Pdf, &file), Ok(BTreeSet::new()), "{harmless}");
    }
}

fn compound_with(storage: &str, stream: &str) -> Vec<u8> {
    let mut file = cfb::CompoundFile::open(std::io::Cursor::new(doc())).expect("it is one");
    file.create_storage(storage).expect("writing memory works");
    file.create_stream(stream).expect("writing memory works");
    file.into_inner().into_inner()
}

#[test]
fn an_archive_with_too_many_entries_is_refused() {
    let names: Vec<String> = (2..=MAX_ENTRIES).map(|number| number.to_string()).collect();
    let (most, too_many) = (docx_with(&names[1..]), docx_with(&names));
    assert!(is_taken(Docx, &most));
    assert_eq!(look(Docx, &too_many), Err(ResumeError::Crowded));
    let mut lying = too_many;
    let count = lying.len() - 22 + 10;
    lying[count..count + 2].copy_from_slice(&[1, 0]);
    assert_eq!(look(Docx, &lying), Err(ResumeError::Crowded));
}

#[test]
fn archives_unpacking_beyond_the_limit_are_refused() {
    let padding = " ".repeat(usize::try_from(MAX_LIST_BYTES).expect("it is small"));
    let grown = content_types("/word/document.xml").replace("<Default", &format!("{padding}<Default"));
    let bomb = archive([(CONTENT_TYPES, grown.as_bytes()), DOCUMENT]);
    assert!(bomb.len() < padding.len() / 10, "{} bytes", bomb.len());
    assert_eq!(look(Docx, &bomb), Err(ResumeError::Crowded));
    // Each of these lists is below the limit, but all lists together exceed it.
    let half = padding.split_at(padding.len() / 2).0.as_bytes();
    let several = docx_that_embeds(&[("a.rels", half), ("b.rels", half), ("c.rels", half)]);
    assert_eq!(look(Docx, &several), Err(ResumeError::Crowded));
}

#[test]
fn entries_sharing_packed_bytes_are_refused_quickly() {
    // A megabyte of empty DEFLATE blocks (RFC 1951, 3.2.4), which unpacks to nothing.
    let nothing = [b"\0\0\0\xff\xff".repeat(200_000), b"\x01\0\0\xff\xff".to_vec()].concat();
    let mut file = docx_that_embeds(&[("a.rels", &nothing)]);
    let end = file.split_off(file.len() - 22);
    let directory = u32::from_le_bytes([end[16], end[17], end[18], end[19]]) as usize;
    let lines = file.split_off(directory);
    let last = lines.windows(4).rposition(|line| line == b"PK\x01\x02");
    let (before, line) = lines.split_at(last.expect("a line"));
    let mut line = line.to_vec();
    line[10..12].copy_from_slice(&8_u16.to_le_bytes());
    let lines = [before, &line.repeat(1000)].concat();
    let bytes = u32::try_from(lines.len()).expect("it is small");
    let count = 1002_u16.to_le_bytes();
    let end = [&end[..8], &count, &count, &bytes.to_le_bytes(), &end[16..]].concat();
    let file = [file, lines, end].concat();
    let begun = std::time::Instant::now();
    assert_eq!(look(Docx, &file), Err(ResumeError::Crowded));
    assert!(begun.elapsed().as_secs() < 2, "{:?}", begun.elapsed());
}

#[test]
fn the_largest_files_are_inspected_quickly() {
    let largest = usize::try_from(MAX_BYTES).expect("it is small") - 100;
    let begun = std::time::Instant::now();
    for filling in [&b"x"[..], b"/", b"/J#61vaScript", b"PK\x05\x06", b"startxref%%EO"] {
        let file = pdf_of(&filling.repeat(largest / filling.len()));
        assert!(is_taken(Pdf, &file));
        for kind in [Doc, Docx] {
            assert!(!is_taken(kind, &file));
        }
    }
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn other_compound_files_are_refused() {
    let stream = |name, content: &[u8]| is_taken(Doc, &compound(name, content, 0));
    assert!(stream("/WordDocument", &[0xec, 0xa5]));
    assert!(!stream("/Workbook", &[0xec, 0xa5]) && !stream("/WordDocuments", &[0xec, 0xa5]));
    assert!(!is_taken(Doc, b""));
    assert!(!is_taken(Doc, &doc()[..11]));
}

#[test]
fn a_doc_is_accepted_with_any_streams_and_padding() {
    let embedded = archive([("xl/workbook.xml", "<x/>")]);
    let text = [&[0xec, 0xa5][..], &embedded, &[0; 5000]].concat();
    assert!(is_taken(Doc, &compound("/WordDocument", &text, 0)));
    for behind in [&b"\0"[..], b"\r\n", &[0; 100_000], b"<!-- made in 3 ms -->"] {
        let file = [&doc(), behind].concat();
        assert!(is_taken(Doc, &file), "{} bytes", behind.len());
    }
}
