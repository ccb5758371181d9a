//! Other kinds of file that are known by something else than their start, so that a résumé can be one of them at the same time.

use std::io::{self, Read, Seek, SeekFrom};

use super::kind::ResumeKind;

/// How far from the start readers look for the header of a PDF (ISO 32000-1, annex H, implementation note 13).
const HEAD_BYTES: usize = 1024;
const PDF_HEADER: &[u8] = b"%PDF-";
/// The mark in the header of a tape archive since POSIX, and the sum over the header (POSIX, pax, "ustar Interchange Format").
const TAR_MARK: &[u8] = b"ustar";
const TAR_MARK_OFFSET: usize = 257;
const TAR_HEADER_BYTES: usize = 512;
const TAR_SUM: std::ops::Range<usize> = 148..156;
/// What describes the volume of a disc's image, in one of its first sectors behind the sixteen that are left free (ECMA-119, 8.1, and
/// ECMA-167, part 2, 9.1).
const DISC_MARKS: [&[u8]; 2] = [b"CD001", b"BEA01"];
const DISC_MARK_OFFSETS: [u64; 3] = [16 * 2048 + 1, 17 * 2048 + 1, 18 * 2048 + 1];
/// The last block of an image of Apple's.
const APPLE_MARK: &[u8] = b"koly";
const APPLE_BLOCK_BYTES: u64 = 512;

/// Whether programs take the file for another kind than this, whatever it begins with.
///
/// # Errors
///
/// If the file cannot be read.
pub fn has_mark(kind: ResumeKind, file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let head = read(file, 0, HEAD_BYTES)?;
    let is_pdf = head.windows(PDF_HEADER.len()).any(|window| window == PDF_HEADER);
    Ok((is_pdf && kind != ResumeKind::Pdf) || is_tar(&head) || is_disc(file)? || is_apple_image(file)?)
}

fn is_tar(head: &[u8]) -> bool {
    let has_mark = head
        .get(TAR_MARK_OFFSET..)
        .is_some_and(|rest| rest.starts_with(TAR_MARK));
    has_mark || has_tar_sum(head).unwrap_or(false)
}

/// Whether it begins as tape archives did before they had a mark: with a sum over the header, itself counted as spaces.
fn has_tar_sum(head: &[u8]) -> Option<bool> {
    let header = head.get(..TAR_HEADER_BYTES)?;
    let field = std::str::from_utf8(&header[TAR_SUM]).ok()?;
    let told = u32::from_str_radix(field.trim_matches([' ', '\0']), 8).ok()?;
    let sum = |bytes: &[u8]| bytes.iter().copied().map(u32::from).sum::<u32>();
    let spaces = u32::from(b' ') * u32::try_from(TAR_SUM.len()).ok()?;
    Some(told == sum(header) - sum(field.as_bytes()) + spaces)
}

fn is_disc(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    for offset in DISC_MARK_OFFSETS {
        let found = read(file, offset, DISC_MARKS[0].len())?;
        if DISC_MARKS.contains(&&found[..]) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_apple_image(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let file_bytes = file.seek(SeekFrom::End(0))?;
    let Some(block) = file_bytes.checked_sub(APPLE_BLOCK_BYTES) else {
        return Ok(false);
    };
    Ok(read(file, block, APPLE_MARK.len())? == APPLE_MARK)
}

/// As many bytes from there on as there are.
fn read(file: &mut (impl Read + Seek), offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(bytes as u64).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::super::{
        kind::ResumeKind::{Doc, Docx, Pdf},
        samples::{TRAILER, doc, doc_that_embeds, docx_that_embeds, pdf, pdf_of, verdict},
        verdict::Verdict::{Agrees, Differs},
    };

    #[test]
    fn a_docx_that_readers_of_pdfs_open_is_refused() {
        let polyglot = |header: &[u8]| docx_that_embeds(&[("a", header), ("b\nstartxref\n9\n%%EOF\n", b"")]);
        assert_eq!(verdict(Docx, &polyglot(b"%PDF-1.7\n")), Differs);
        assert_eq!(verdict(Docx, &polyglot(b"%PNG")), Agrees);
        // Further inside than readers look for the header.
        let attached = docx_that_embeds(&[
            ("word/media/a.emf", &[0; 1024]),
            ("word/embeddings/a.pdf", &pdf()),
        ]);
        assert_eq!(verdict(Docx, &attached), Agrees);
    }

    #[test]
    fn a_doc_that_readers_of_pdfs_open_is_refused() {
        let polyglot = |class: &[u8; 8]| {
            let mut file = [&doc()[..], TRAILER].concat();
            file[8..16].copy_from_slice(class);
            file
        };
        assert_eq!(verdict(Doc, &polyglot(b"%PDF-1.7")), Differs);
        assert_eq!(verdict(Doc, &polyglot(b"%PNG-1.7")), Agrees);
    }

    /// The file with this mark at this offset.
    fn marked(mut file: Vec<u8>, offset: usize, mark: &[u8]) -> Vec<u8> {
        file[offset..offset + mark.len()].copy_from_slice(mark);
        file
    }

    #[test]
    fn images_of_discs_are_known_by_what_stands_behind_their_first_sectors() {
        let filling = vec![b'x'; 50_000];
        for (kind, file) in [
            (Pdf, pdf_of(&filling)),
            (Doc, doc_that_embeds(&filling, 0)),
            (Docx, docx_that_embeds(&[("word/media/a.emf", &filling)])),
        ] {
            for offset in [32_769, 34_817, 36_865] {
                for mark in [b"CD001", b"BEA01"] {
                    let image = marked(file.clone(), offset, mark);
                    assert_eq!(verdict(kind, &image), Differs, "{kind} at {offset}");
                    let honest = marked(file.clone(), offset + 1, mark);
                    assert_eq!(verdict(kind, &honest), Agrees, "{kind} at {offset}");
                }
            }
        }
    }

    #[test]
    fn images_of_apples_are_known_by_their_last_block() {
        let file = pdf_of(&[b'x'; 1000]);
        let block = file.len() - 512;
        assert_eq!(verdict(Pdf, &marked(file.clone(), block, b"koly")), Differs);
        assert_eq!(verdict(Pdf, &marked(file, block + 1, b"koly")), Agrees);
    }

    #[test]
    fn tape_archives_are_known_by_their_mark_or_by_the_sum_over_their_header() {
        let file = pdf_of(&[b'x'; 1000]);
        assert_eq!(verdict(Pdf, &marked(file.clone(), 257, b"ustar")), Differs);
        assert_eq!(verdict(Pdf, &marked(file.clone(), 258, b"ustar")), Agrees);

        let file = marked(file, 148, &[b' '; 8]);
        let sum: u32 = file[..512].iter().copied().map(u32::from).sum();
        let with_sum = |sum: u32| marked(file.clone(), 148, format!("{sum:06o}\0 ").as_bytes());
        assert_eq!(verdict(Pdf, &with_sum(sum)), Differs);
        assert_eq!(verdict(Pdf, &with_sum(sum + 1)), Agrees);
    }
}
