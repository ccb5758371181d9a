//! Files that are made to be two kinds at once, and the honest ones that are built alike.

use rawzip::{Header, ZipArchiveWriter, extra_fields::ExtraFieldId};

use super::{
    MAX_BYTES,
    archive::END_WITHIN_BYTES,
    docx::MAX_DIRECTORY_BYTES,
    embedded::MAX_ARCHIVES,
    kind::ResumeKind::{Doc, Docx, Pdf},
    samples::{
        TRAILER, archive, compound, doc, doc_that_embeds, docx, docx_that_embeds, looked, pdf, pdf_of,
        pdf_that_embeds, verdict,
    },
    verdict::Verdict::{Agrees, Differs},
};

fn hidden() -> Vec<u8> {
    archive([
        ("META-INF/MANIFEST.MF", "Main-Class: Run\n"),
        ("run.bat", "@echo off"),
    ])
}

/// What Word puts into each DOC.
fn theme() -> Vec<u8> {
    archive([
        ("[Content_Types].xml", "<Types/>"),
        ("_rels/.rels", "<Relationships/>"),
        ("theme/theme/theme1.xml", "<theme/>"),
    ])
}

fn with_comment_length(mut archive: Vec<u8>, bytes: usize) -> Vec<u8> {
    let field = archive.len() - 2;
    let bytes = u16::try_from(bytes).expect("a comment is short");
    archive[field..].copy_from_slice(&bytes.to_le_bytes());
    archive
}

/// An end record that tells of so many entries, so many bytes of directory, at this offset.
fn end_record(entries: u16, directory_bytes: u32, offset: u32) -> Vec<u8> {
    let (entries, bytes) = (entries.to_le_bytes(), directory_bytes.to_le_bytes());
    [
        &b"PK\x05\x06\0\0\0\0"[..],
        &entries,
        &entries,
        &bytes,
        &offset.to_le_bytes(),
        &[0, 0],
    ]
    .concat()
}

/// Archives that some program opens, and how others are kept from seeing them.
fn disguised() -> [(&'static str, Vec<u8>); 5] {
    let unread = end_record(1, 1, 0xffff_fff0);
    let covered = with_comment_length(hidden(), unread.len() + TRAILER.len());
    [
        ("nothing", hidden()),
        (
            "a comment that is longer than the file",
            with_comment_length(hidden(), 0xffff),
        ),
        ("another end in the comment", [covered, unread].concat()),
        (
            "an empty end behind it",
            [&hidden()[..], b"\n", &end_record(0, 0, 0)].concat(),
        ),
        ("an honest archive behind it", [hidden(), theme()].concat()),
    ]
}

#[test]
fn an_archive_in_a_pdf_is_one_however_its_end_is_disguised() {
    for (disguise, file) in disguised() {
        assert_eq!(verdict(Pdf, &pdf_of(&file)), Differs, "{disguise}");
    }
}

#[test]
fn an_archive_in_a_stream_of_a_pdf_is_opened_by_others_and_refused() {
    for (disguise, file) in disguised() {
        assert_eq!(verdict(Pdf, &pdf_that_embeds(&[&file])), Differs, "{disguise}");
    }
    assert_eq!(
        verdict(Pdf, &pdf_of(&[&hidden()[..], b"\nendstream"].concat())),
        Differs
    );
    assert_eq!(verdict(Pdf, &pdf_that_embeds(&[&hidden(), &theme()])), Differs);
}

#[test]
fn a_pdf_that_embeds_documents_of_office_programs_is_one() {
    assert_eq!(verdict(Pdf, &pdf_that_embeds(&[&theme()])), Agrees);
    assert_eq!(verdict(Pdf, &pdf_that_embeds(&[&docx(), &theme()])), Agrees);
    // Not in a stream.
    assert_eq!(verdict(Pdf, &pdf_of(&theme())), Differs);
}

#[test]
fn an_attachment_that_nobody_finds_from_the_end_is_let_pass() {
    let window = usize::try_from(END_WITHIN_BYTES).expect("it is small");
    let before = |zeros: usize| pdf_that_embeds(&[&hidden(), &vec![0; zeros]]);
    assert_eq!(verdict(Pdf, &before(window)), Agrees);
    assert_eq!(verdict(Pdf, &before(window - 200)), Differs);
    assert_eq!(verdict(Doc, &doc_that_embeds(&hidden(), window)), Agrees);
}

#[test]
fn an_archive_behind_a_doc_is_one_whatever_follows() {
    for (disguise, file) in disguised() {
        for behind in [&b""[..], b"\0", b"\r\n", TRAILER, &[0; 60_000]] {
            let polyglot = [&doc()[..], &file, behind].concat();
            assert_eq!(
                verdict(Doc, &polyglot),
                Differs,
                "{disguise}, {} bytes",
                behind.len()
            );
        }
        assert_eq!(verdict(Doc, &doc_that_embeds(&file, 0)), Differs, "{disguise}");
    }
}

#[test]
fn a_doc_with_the_theme_that_word_puts_into_each_is_one() {
    assert_eq!(verdict(Doc, &doc_that_embeds(&theme(), 0)), Agrees);
    let small = [&[0xec, 0xa5][..], &theme()].concat();
    assert_eq!(verdict(Doc, &compound("/WordDocument", &small, 3)), Agrees);
    let picture = archive([("[Content_Types].xml", "<Types/>"), ("word/media/image1.png", "")]);
    assert_eq!(
        verdict(Doc, &doc_that_embeds(&[theme(), picture].concat(), 10_000)),
        Agrees
    );
}

#[test]
fn a_document_behind_a_doc_is_refused_whatever_it_holds() {
    for behind in [&b""[..], b"\0", &[0; 10_000]] {
        for other in [theme(), docx()] {
            assert_eq!(verdict(Doc, &[&doc()[..], &other, behind].concat()), Differs);
        }
    }
}

#[test]
fn an_archive_whose_end_tells_of_another_directory_is_refused() {
    let (embedded, docx) = (theme(), docx());
    // Numbers of discs and entries, and the size.
    for field in 4..16 {
        let changed = |mut file: Vec<u8>| {
            let at = file.len() - 22 + field;
            file[at] ^= 1;
            file
        };
        let file = changed(embedded.clone());
        assert_eq!(verdict(Pdf, &pdf_that_embeds(&[&file])), Differs, "{field}");
        assert_eq!(verdict(Doc, &doc_that_embeds(&file, 0)), Differs, "{field}");
        assert_eq!(verdict(Docx, &changed(docx.clone())), Differs, "{field}");
    }
}

/// An archive of one file, with a second name and a comment.
fn archive_of_one(name: &str, other_name: &[u8], comment: &[u8]) -> Result<Vec<u8>, rawzip::Error> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    let mut file = archive.new_file(name).comment(comment);
    if !other_name.is_empty() {
        file = file.extra_field(ExtraFieldId::INFO_ZIP_UNICODE_PATH, other_name, Header::CENTRAL)?;
    }
    let (mut entry, config) = file.start()?;
    let (_, written) = config.wrap(&mut entry).finish()?;
    entry.finish(written)?;
    archive.finish()
}

#[test]
fn an_archive_that_programs_read_in_different_ways_is_refused() -> Result<(), rawzip::Error> {
    let is_taken = |file: &[u8]| verdict(Pdf, &pdf_that_embeds(&[file])) == Agrees;
    assert!(is_taken(&archive_of_one("a.xml", b"", b"")?));
    assert!(!is_taken(&archive_of_one("run.bat", b"", b"")?));
    assert!(!is_taken(&archive_of_one("a.xml", b"\x01\0\0\0\0run.bat", b"")?));
    // Python looks right before the end for what replaces it, and finds it in a comment.
    assert!(is_taken(&archive_of_one("a.xml", b"", &[b'x'; 76])?));
    let replaces = [&[0; 56][..], b"PK\x06\x07", &[0; 16]].concat();
    assert!(!is_taken(&archive_of_one("a.xml", b"", &replaces)?));
    Ok(())
}

#[test]
fn more_archives_than_office_programs_write_are_not_looked_at() {
    let theme = theme();
    let most = vec![&theme[..]; MAX_ARCHIVES];
    assert_eq!(verdict(Pdf, &pdf_that_embeds(&most)), Agrees);
    let too_many = vec![&theme[..]; MAX_ARCHIVES + 1];
    assert_eq!(verdict(Pdf, &pdf_that_embeds(&too_many)), Differs);
}

#[test]
fn directories_within_directories_are_not_read_again_and_again() -> Result<(), rawzip::Error> {
    let mut nested = archive_of_one("a.xml", b"", b"")?;
    for _ in 1..MAX_ARCHIVES {
        nested = archive_of_one("a.xml", b"", &nested)?;
    }
    let (verdict, read_bytes) = looked(Pdf, &pdf_that_embeds(&[&nested]));
    assert_eq!(verdict, Differs);
    assert!(
        read_bytes < MAX_DIRECTORY_BYTES + 2 * END_WITHIN_BYTES,
        "{read_bytes} bytes"
    );
    Ok(())
}

#[test]
fn of_a_large_pdf_little_is_read() {
    let largest = usize::try_from(MAX_BYTES).expect("it is small") - 100;
    let ends = b"PK\x05\x06".repeat(largest / 4);
    for (file, expected) in [(vec![b'x'; largest], Agrees), (ends, Differs)] {
        let (verdict, read_bytes) = looked(Pdf, &pdf_of(&file));
        assert_eq!(verdict, expected);
        assert!(read_bytes < 2 * END_WITHIN_BYTES, "{read_bytes} bytes");
    }
}

#[test]
fn behind_a_pdf_stands_nothing_but_white_space() {
    for other in [
        &b"<html><script>alert(1)</script>"[..],
        b"\n<!-- made in 3 ms -->",
        b"MZ",
        b"\nPK",
        b"%%EO",
    ] {
        assert_eq!(verdict(Pdf, &[&pdf()[..], other].concat()), Differs, "{other:?}");
    }
    // As it is changed, and as it is made to be shown from its first page on.
    let changed = [&pdf()[..], b"2 0 obj\n<<>>\nendobj", TRAILER].concat();
    let in_pages_order = pdf_of(&[&b"startxref\n0\n%%EOF\n"[..], &pdf()[9..]].concat());
    for honest in [
        changed,
        in_pages_order,
        [pdf(), b"\r\n\0\x0c\t ".to_vec()].concat(),
    ] {
        assert_eq!(verdict(Pdf, &honest), Agrees);
    }
}

#[test]
fn a_docx_has_one_end_and_may_embed_workbooks_that_are_not_packed() {
    let workbook = archive([("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "<x/>")]);
    let embedded = docx_that_embeds(&[("word/embeddings/a.xlsx", &workbook)]);
    assert_eq!(verdict(Docx, &embedded), Agrees);
    assert_eq!(verdict(Docx, &docx_that_embeds(&[("PK\x05\x06", b"")])), Differs);
}
