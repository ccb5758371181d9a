use super::{
    doc::MAX_READ_BYTES,
    docx::{MAX_CONTENT_TYPES_BYTES, MAX_DIRECTORY_BYTES, MAX_ENTRIES},
    kind::ResumeKind::{self, Doc, Docx, Pdf},
    samples::{KINDS, archive, compound, content_types, doc, docx, docx_with, looked, pdf, verdict},
    verdict::Verdict::{Agrees, Crowded, Differs},
};

#[test]
fn a_pdf_a_doc_and_a_docx_are_each_that_and_nothing_else() {
    for (file, its) in [(pdf(), Pdf), (doc(), Doc), (docx(), Docx)] {
        for kind in KINDS {
            let expected = if kind == its { Agrees } else { Differs };
            assert_eq!(verdict(kind, &file), expected, "{its} as {kind}");
        }
    }
}

#[test]
fn the_last_ending_says_what_a_file_is() {
    let named = ResumeKind::of_name;
    assert_eq!(named("cv.pdf"), Some(Pdf));
    assert_eq!(named("Résumé Zoë.final.DocX"), Some(Docx));
    assert_eq!(named("C:\\cv\\cv.DOC"), Some(Doc));
    assert_eq!(named("cv.pdf. . "), Some(Pdf));
    assert_eq!(named("cv.\u{200b}pdf\u{202c}"), Some(Pdf));
    assert_eq!(named("cv.pdf\u{3164}"), Some(Pdf));
    for other in [
        "",
        "cv",
        ".pdf",
        "pdf",
        "cv.",
        "run.bat",
        "cv.html",
        "cv.svg",
        "a.lnk",
        "cv.pdf.exe",
        "cv.docm",
        "cv.pdf .exe",
        "cv.exe\u{202e}fdp.",
        "cv.pdf/cv",
        "cv.rtf",
        "cv.ｐｄｆ",
        "cv.pdf\u{3164}.exe",
    ] {
        assert_eq!(named(other), None, "{other}");
    }
}

#[test]
fn before_a_pdf_stands_nothing_but_what_scripts_leave_there() {
    for honest in [&b""[..], b"\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"] {
        assert_eq!(verdict(Pdf, &[honest, &pdf()].concat()), Agrees, "{honest:?}");
    }
    for other in [
        &b"MZ"[..],
        b"@echo off\r\nrem ",
        b"<!doctype html><script>",
        b"<svg xmlns='http://www.w3.org/2000/svg'>",
        b"L\0\0\0\x01\x14\x02\0",
        b"#!/bin/sh\n",
        b"\0",
        &b" ".repeat(2000),
    ] {
        assert_eq!(verdict(Pdf, &[other, &pdf()].concat()), Differs, "{other:?}");
    }
}

#[test]
fn a_pdf_has_an_end() {
    let behind = |more: &[u8]| verdict(Pdf, &[&pdf(), more].concat());
    assert_eq!(behind(b"\r\n"), Agrees);
    assert_eq!(behind(&[0; 900]), Agrees);
    assert_eq!(behind(&[0; 2000]), Differs);
    let whole = pdf();
    for cut in 0..whole.len() - 1 {
        assert_eq!(verdict(Pdf, &whole[..cut]), Differs, "{cut}");
    }
    assert_eq!(verdict(Pdf, b"%PDF-1.4"), Differs);
    assert_eq!(verdict(Pdf, b"%PDF-1.4\n<script>\n%%EOF\nstartxref\n"), Differs);
}

#[test]
fn a_file_that_is_an_archive_too_is_refused() {
    let hidden = || archive([("run.bat", "@echo off"), ("b", "")]);
    for polyglot in [
        [pdf(), hidden()].concat(),
        [pdf(), hidden(), pdf()].concat(),
        [pdf(), docx()].concat(),
    ] {
        for kind in KINDS {
            assert_eq!(verdict(kind, &polyglot), Differs, "as {kind}");
        }
    }
    assert_eq!(verdict(Doc, &[doc(), hidden()].concat()), Differs);
    for polyglot in [
        [hidden(), pdf()].concat(),
        archive([("a", "%PDF-1.7 startxref %%EOF")]),
    ] {
        assert_eq!(verdict(Pdf, &polyglot), Differs);
    }
}

#[test]
fn a_pdf_that_embeds_the_text_it_was_made_of_is_one() {
    let text = archive([
        ("content.xml", "<text/>"),
        ("mimetype", "application/vnd.oasis.opendocument.text"),
    ]);
    let object = |text: &[u8]| {
        [
            b"%PDF-1.7\n1 0 obj\n<<>>\nstream\n",
            text,
            b"\r\nendstream\nendobj\n",
        ]
        .concat()
    };
    let end = b"startxref\n0\n%%EOF\n";
    assert_eq!(verdict(Pdf, &[&object(&text)[..], end].concat()), Agrees);
    assert_eq!(verdict(Pdf, &[&object(&text)[..], end, &text].concat()), Differs);
}

#[test]
fn a_docx_has_nothing_before_and_behind_it() {
    for other in [
        b"MZ".to_vec(),
        b"#!/bin/sh\n".to_vec(),
        pdf(),
        archive([("a", "b")]),
    ] {
        assert_eq!(verdict(Docx, &[other.clone(), docx()].concat()), Differs);
        assert_eq!(verdict(Docx, &[docx(), other].concat()), Differs);
    }
}

#[test]
fn archives_that_hold_no_document_of_word_are_refused() {
    let types = content_types("/word/document.xml");
    let list = ("[Content_Types].xml", types.as_str());
    let document = ("word/document.xml", "<w/>");
    assert_eq!(verdict(Docx, &archive([list, document])), Agrees);
    assert_eq!(verdict(Docx, &archive([document, list])), Agrees);
    for other in [
        archive([list]),
        archive([document]),
        archive([("[Content_Types].xml", "<xml/>"), document]),
        archive([list, ("xl/workbook.xml", "<x/>")]),
        archive([list, document, document]),
        archive([list, list, document]),
        archive::<&str>([]),
        b"PK\x03\x04 broken archive".to_vec(),
    ] {
        assert_eq!(verdict(Docx, &other), Differs);
    }
    let online = content_types("/word/document2.xml");
    let online = [
        ("[Content_Types].xml", online.as_str()),
        ("word/document2.xml", "<w/>"),
    ];
    assert_eq!(verdict(Docx, &archive(online)), Agrees);
}

#[test]
fn a_crowded_archive_is_refused_by_what_its_end_says() {
    let names: Vec<String> = (2..=MAX_ENTRIES).map(|number| number.to_string()).collect();
    let (most, too_many) = (docx_with(&names[1..]), docx_with(&names));
    assert_eq!(verdict(Docx, &most), Agrees);
    assert_eq!(verdict(Docx, &too_many), Crowded);
}

#[test]
fn a_directory_that_is_larger_than_a_resumes_is_not_read() {
    let names: Vec<String> = (0..12)
        .map(|number| format!("{number}{}", "x".repeat(50_000)))
        .collect();
    let (verdict, read_bytes) = looked(Docx, &docx_with(&names));
    assert_eq!(verdict, Crowded);
    assert!(read_bytes < MAX_DIRECTORY_BYTES / 2, "{read_bytes} bytes");
}

#[test]
fn an_archive_that_lies_about_its_entries_is_refused() {
    let mut few = docx();
    let count = few.len() - 22 + 10;
    few[count] += 1;
    assert_eq!(verdict(Docx, &few), Differs);
    few[count] -= 2;
    assert_eq!(verdict(Docx, &few), Differs);
}

#[test]
fn a_list_that_grows_when_it_is_unpacked_is_cut() {
    let padding = usize::try_from(MAX_CONTENT_TYPES_BYTES).expect("it is small");
    let types = content_types("/word/document.xml");
    let grown = types.replace("<Default", &format!("{}<Default", " ".repeat(padding)));
    let bomb = archive([
        ("[Content_Types].xml", grown.as_str()),
        ("word/document.xml", "<w/>"),
    ]);
    assert!(bomb.len() < padding / 10, "{} bytes", bomb.len());
    assert_eq!(verdict(Docx, &bomb), Differs);
}

#[test]
fn other_compound_files_are_no_documents() {
    let stream = |name| verdict(Doc, &compound(name, &[0xec, 0xa5], 0));
    assert_eq!(stream("/WordDocument"), Agrees);
    assert_eq!(stream("/Workbook"), Differs);
    assert_eq!(verdict(Doc, &compound("/WordDocument", b"text", 0)), Differs);
    assert_eq!(verdict(Doc, b""), Differs);
    assert_eq!(
        verdict(Doc, &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 1, 2, 3]),
        Differs
    );
}

#[test]
fn a_document_that_embeds_an_archive_is_one() {
    let embedded = archive([("xl/workbook.xml", "<x/>")]);
    let text = [&[0xec, 0xa5][..], &embedded, &[0; 5000]].concat();
    assert_eq!(verdict(Doc, &compound("/WordDocument", &text, 0)), Agrees);
}

#[test]
fn a_crowded_compound_file_is_refused_before_all_of_its_directory_is_read() {
    let streams = |count| looked(Doc, &compound("/WordDocument", &[0xec, 0xa5], count));
    assert_eq!(streams(2000).0, Agrees);
    let (verdict, read_bytes) = streams(9000);
    assert_eq!(verdict, Crowded);
    assert!(read_bytes <= MAX_READ_BYTES, "{read_bytes} bytes");
}

/// A compound file whose tables name one and the same sector again and again: 10 MiB would become ten gigabytes.
fn compound_that_names_one_sector(sectors: u32) -> Vec<u8> {
    const SECTOR: usize = 4096;
    const END_OF_CHAIN: u32 = 0xffff_fffe;
    let first_table = 1_u32;
    let named = first_table.to_le_bytes();
    let mut file = doc()[..SECTOR].to_vec();
    // MS-CFB, 2.2: where the tables that name tables begin, how many there are, and the first of what they hold.
    file[0x44..0x48].copy_from_slice(&named);
    file[0x48..0x4c].copy_from_slice(&(sectors - 1).to_le_bytes());
    file[0x4c..0x200].copy_from_slice(&named.repeat(109));
    file.extend([0xff; SECTOR]);
    for sector in first_table..sectors {
        let next = if sector + 1 < sectors {
            sector + 1
        } else {
            END_OF_CHAIN
        };
        file.extend(named.repeat(SECTOR / named.len() - 1));
        file.extend(next.to_le_bytes());
    }
    file
}

#[test]
fn tables_that_name_one_sector_again_and_again_are_not_followed() {
    for sectors in [3, 2500] {
        let (verdict, read_bytes) = looked(Doc, &compound_that_names_one_sector(sectors));
        assert_eq!(verdict, Crowded, "{sectors}");
        assert!(read_bytes <= MAX_READ_BYTES, "{read_bytes} bytes");
    }
}
