//! Archives that a PDF or DOC holds so near to its end that programs for archives open the file as one.

use std::io::{self, Read, Seek};

use rawzip::{ZipFileHeaderRecord, extra_fields::ExtraFieldId};

use super::{
    archive::{Archive, end_records},
    docx::{MAX_DIRECTORY_BYTES, MAX_ENTRIES},
};

/// The most that are looked at. Word writes one for the theme and one for each shape, a kilobyte and more: so many have no room where
/// they are looked for.
pub(super) const MAX_ARCHIVES: usize = 100;
/// How the names of parts end that office programs write: none is a program or a page with one, or tells Java where one is.
const PART_ENDINGS: [&str; 12] = [
    "xml", "rels", "rdf", "bin", "vml", "png", "jpeg", "jpg", "gif", "tiff", "emf", "wmf",
];
/// What they write without an ending.
const PART_NAMES: [&str; 2] = ["mimetype", "layout-cache"];

/// Where the archives end that programs find in the file; `None` where one of them is anything but a document of an office program, or
/// might be read in another way than here.
///
/// # Errors
///
/// If the file cannot be read.
pub fn ends(file: &mut (impl Read + Seek)) -> io::Result<Option<Vec<u64>>> {
    let records = end_records(file)?;
    if records.len() > MAX_ARCHIVES {
        return Ok(None);
    }
    let (mut ends, mut directory_bytes) = (Vec::new(), 0);
    for record in records {
        let Some(archive) = Archive::at(file, record)? else {
            return Ok(None);
        };
        // One directory may hold others in its comments.
        directory_bytes += archive.directory_bytes();
        if directory_bytes > MAX_DIRECTORY_BYTES || !is_of_office(&archive)? {
            return Ok(None);
        }
        ends.push(archive.end());
    }
    Ok(Some(ends))
}

fn is_of_office<F: Read + Seek>(archive: &Archive<'_, F>) -> io::Result<bool> {
    if archive.told_entries() > MAX_ENTRIES || !archive.has_one_directory()? {
        return Ok(false);
    }
    let (mut entries, mut parts) = (0, 0);
    let read = archive.for_each(|entry| {
        entries += 1;
        parts += u64::from(is_part(entry));
    });
    Ok(read.is_ok() && entries > 0 && entries == archive.told_entries() && parts == entries)
}

/// Whether this is a part of a document by its name, and has no other besides (APPNOTE 4.6.9).
fn is_part(entry: &ZipFileHeaderRecord<'_>) -> bool {
    let mut fields = entry.extra_fields();
    let has_one_name = fields.all(|(id, _)| id != ExtraFieldId::INFO_ZIP_UNICODE_PATH)
        && fields.remaining_bytes().is_empty();
    has_one_name && std::str::from_utf8(entry.file_path().as_bytes()).is_ok_and(is_part_name)
}

fn is_part_name(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_known = match last.rsplit_once('.') {
        Some((_, ending)) => PART_ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known)),
        None => name.ends_with('/') || PART_NAMES.contains(&last),
    };
    // Some programs end a name at a zero.
    is_known && !name.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_how_office_programs_name_them() {
        for part in [
            "[Content_Types].xml",
            "_rels/.rels",
            "theme/theme/_rels/themeManager.xml.rels",
            "xl/media/image1.PNG",
            "mimetype",
            "manifest.rdf",
            "Configurations2/accelerator/",
            "META-INF/manifest.xml",
        ] {
            assert!(is_part_name(part), "{part}");
        }
        for other in [
            "",
            "run.bat",
            "a.xml.exe",
            "META-INF/MANIFEST.MF",
            "Main.class",
            "xml",
            "run.bat\0.xml",
            "cv.html",
            "cv.svg",
            "a/mimetype.js",
        ] {
            assert!(!is_part_name(other), "{other}");
        }
    }
}
