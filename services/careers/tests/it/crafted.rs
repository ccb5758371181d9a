//! Résumés that cost more to inspect than they seem.

/// DOCX of nearly the largest size whose directory lists 207,000 entries, most of them without content.
pub fn crowded_archive() -> Vec<u8> {
    const ENTRIES: usize = 207_000;
    const END_BYTES: usize = 22;
    let mut file = docx();
    let end = file.split_off(file.len() - END_BYTES);
    let number = |at: usize| u32::from_le_bytes([end[at], end[at + 1], end[at + 2], end[at + 3]]);
    let (count, start) = (usize::from(end[10]), u64::from(number(16)));

    let mut line = [0; 46];
    line[..4].copy_from_slice(b"PK\x01\x02");
    line[28] = 4;
    for entry in count..ENTRIES {
        file.extend(line);
        file.extend(format!("{entry:04x}").bytes().rev().take(4));
    }

    let (entries, ends) = ((ENTRIES as u64).to_le_bytes(), file.len() as u64);
    file.extend(b"PK\x06\x06");
    file.extend(44_u64.to_le_bytes());
    file.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [
        entries,
        entries,
        (ends - start).to_le_bytes(),
        start.to_le_bytes(),
    ] {
        file.extend(number);
    }
    file.extend(b"PK\x06\x07\0\0\0\0");
    file.extend(ends.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([0xff; 12]);
    file.extend([0, 0]);
    file
}

pub fn docx() -> Vec<u8> {
    let types = "<Types><Override PartName=\"/word/document.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml\"/></Types>";
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, content) in [("[Content_Types].xml", types), ("word/document.xml", "<w/>")] {
        let file = archive.new_file(name).start();
        let (mut entry, config) = file.expect("writing memory works");
        let mut writer = config.wrap(&mut entry);
        std::io::Write::write_all(&mut writer, content.as_bytes()).expect("writing memory works");
        let (_, written) = writer.finish().expect("writing memory works");
        entry.finish(written).expect("writing memory works");
    }
    archive.finish().expect("writing memory works")
}
