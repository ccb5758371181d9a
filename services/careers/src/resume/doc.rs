//! DOC check: a compound file (MS-CFB) whose directory has Word's document stream (MS-DOC, 2.1.1).

use site_events::event::ActiveContent::Macros;

use super::{Look, ResumeError, ResumeKind};

/// Signature of a compound file (MS-CFB, 2.2).
const COMPOUND_FILE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// Size of the smallest sector. Every stream begins at a multiple of it.
const SECTOR_BYTES: usize = 512;
/// Size of a directory entry, and offset of its name's length (MS-CFB, 2.6.1).
const ENTRY_BYTES: usize = 128;
const NAME_LENGTH: usize = 64;
/// First bytes of the document stream since Word 97 (MS-DOC, 2.5.2).
const DOCUMENT: [u8; 4] = [0xec, 0xa5, 0xc1, 0];
/// Encryption flag in the document stream: its byte, and its bit in the byte.
const ENCRYPTED: (usize, u8) = (11, 1);

/// # Errors
///
/// If the content is no Word document or has a password.
pub fn look(content: &[u8]) -> Look {
    let is_encrypted =
        |sector: &[u8]| sector.starts_with(&DOCUMENT) && sector[ENCRYPTED.0] & ENCRYPTED.1 != 0;
    if !content.starts_with(&COMPOUND_FILE) {
        return Err(ResumeError::Content(ResumeKind::Doc));
    }
    // Newer Office versions wrap an encrypted document in a package (MS-OFFCRYPTO, 2.3.4).
    if has_entry(content, "EncryptedPackage") || content.chunks_exact(SECTOR_BYTES).any(is_encrypted) {
        return Err(ResumeError::Protected);
    }
    if !has_entry(content, "WordDocument") {
        return Err(ResumeError::Content(ResumeKind::Doc));
    }
    let has_macros = has_entry(content, "Macros") || has_entry(content, "_VBA_PROJECT");
    Ok(has_macros.then_some(Macros).into_iter().collect())
}

/// Searches all bytes for the directory entry, because the sector tables may be damaged or contain loops.
fn has_entry(content: &[u8], name: &str) -> bool {
    let units = name.encode_utf16().chain([0]);
    let name: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    let mut entries = content.chunks_exact(ENTRY_BYTES);
    entries.any(|entry| entry.starts_with(&name) && usize::from(entry[NAME_LENGTH]) == name.len())
}
