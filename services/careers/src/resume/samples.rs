//! Sample résumés for the unit tests of the check.

use std::io::{Cursor, Write};

use rawzip::{CompressionMethod, ZipArchiveWriter};

use super::{ResumeKind, look};

pub const KINDS: [ResumeKind; 3] = [ResumeKind::Pdf, ResumeKind::Doc, ResumeKind::Docx];

pub const TRAILER: &[u8] = b"\nstartxref\n9\n%%EOF\n";

pub const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";

pub fn pdf() -> Vec<u8> {
    b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\nxref\n0 1\n0000000000 65535 f \n\
      trailer\n<< /Root 1 0 R /Size 2 >>\nstartxref\n48\n%%EOF\n"
        .to_vec()
}

/// Returns an archive of the files. Only the first file is compressed.
pub fn archive<'a, C: AsRef<[u8]>>(files: impl IntoIterator<Item = (&'a str, C)>) -> Vec<u8> {
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (number, (name, content)) in files.into_iter().enumerate() {
        let method = if number == 0 {
            CompressionMethod::DEFLATE
        } else {
            CompressionMethod::STORE
        };
        write(&mut archive, name, content.as_ref(), method).expect("writing memory works");
    }
    archive.finish().expect("writing memory works")
}

fn write(
    archive: &mut ZipArchiveWriter<Vec<u8>>,
    name: &str,
    content: &[u8],
    method: CompressionMethod,
) -> Result<(), rawzip::Error> {
    let (mut entry, config) = archive.new_file(name).compression_method(method).start()?;
    let written = if method == CompressionMethod::DEFLATE {
        let packing = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
        let mut writer = config.wrap(packing);
        writer.write_all(content)?;
        let (packing, written) = writer.finish()?;
        packing.finish()?;
        written
    } else {
        let mut writer = config.wrap(&mut entry);
        writer.write_all(content)?;
        writer.finish()?.1
    };
    entry.finish(written)?;
    Ok(())
}

pub fn content_types(part: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
         <Override PartName=\"{part}\" ContentType=\"{WORD}\"/></Types>"
    )
}

pub fn docx_with(empty: &[String]) -> Vec<u8> {
    let empty: Vec<_> = empty.iter().map(|name| (name.as_str(), &b""[..])).collect();
    docx_that_embeds(&empty)
}

pub fn docx() -> Vec<u8> {
    docx_with(&["_rels/.rels".to_owned()])
}

pub fn compound(stream: &str, content: &[u8], others: usize) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("writing memory works");
    for other in 0..others {
        file.create_stream(format!("/{other}"))
            .expect("writing memory works");
    }
    let mut stream = file.create_stream(stream).expect("writing memory works");
    stream.write_all(content).expect("writing memory works");
    drop(stream);
    file.into_inner().into_inner()
}

pub fn doc() -> Vec<u8> {
    compound("/WordDocument", &[0xec, 0xa5, 0xc1, 0], 3)
}

pub fn pdf_of(content: &[u8]) -> Vec<u8> {
    [&b"%PDF-1.7\n"[..], content, TRAILER].concat()
}

pub fn docx_that_embeds(files: &[(&str, &[u8])]) -> Vec<u8> {
    let types = content_types("/word/document.xml");
    let document = [
        ("[Content_Types].xml", types.as_bytes()),
        ("word/document.xml", &b"<w/>"[..]),
    ];
    archive(document.iter().chain(files).copied())
}

pub fn is_taken(kind: ResumeKind, content: &[u8]) -> bool {
    look(kind, content).is_ok()
}
