//! ZIP archives, read entry by entry: how many there are costs no memory.

use std::{
    cell::RefCell,
    io::{self, Read, Seek, SeekFrom},
};

use rawzip::{RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive, ZipFileHeaderRecord, ZipLocator};

/// How far from the end of a file programs look for an end record. It and the longest comment are 65,557 bytes (APPNOTE 4.3.16); Info-ZIP
/// looks through 66,000, the library of Go through 66,560.
pub(super) const END_WITHIN_BYTES: u64 = 65 * 1024;
const END_RECORD: [u8; 4] = *b"PK\x05\x06";
const END_RECORD_BYTES: usize = 22;
/// What stands before the end record where a longer one replaces it (APPNOTE 4.3.15).
const ZIP64_LOCATOR: [u8; 4] = *b"PK\x06\x07";
const ZIP64_LOCATOR_BYTES: usize = 20;
/// Room for the end record, and for the one that replaces it.
const END_BUFFER_BYTES: usize = 256;

/// Where the signature of an end record stands so near to the end of the file that programs look for it there, first to last.
///
/// # Errors
///
/// If the file cannot be read.
pub fn end_records(file: &mut (impl Read + Seek)) -> io::Result<Vec<u64>> {
    let file_bytes = file.seek(SeekFrom::End(0))?;
    let start = file.seek(SeekFrom::Start(file_bytes.saturating_sub(END_WITHIN_BYTES)))?;
    let mut tail = Vec::new();
    file.take(END_WITHIN_BYTES).read_to_end(&mut tail)?;
    let windows = tail.windows(END_RECORD.len()).zip(start..);
    Ok(windows
        .filter_map(|(window, offset)| (window == END_RECORD).then_some(offset))
        .collect())
}

/// An archive in a file.
pub struct Archive<'a, F> {
    archive: ZipArchive<Positioned<'a, F>>,
    file_bytes: u64,
}

/// A file that is read at offsets.
pub struct Positioned<'a, F>(RefCell<&'a mut F>);

impl<F: Read + Seek> ReaderAt for Positioned<'_, F> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut file = self.0.borrow_mut();
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }
}

impl<'a, F: Read + Seek> Archive<'a, F> {
    /// The archive whose end record stands at this offset; `None` where that cannot be read, which other programs may do.
    ///
    /// # Errors
    ///
    /// If the file has no end.
    pub fn at(file: &'a mut F, end_record: u64) -> io::Result<Option<Self>> {
        let file_bytes = file.seek(SeekFrom::End(0))?;
        let mut buffer = [0; END_BUFFER_BYTES];
        let signature_bytes = END_RECORD.len() as u64;
        let locator = ZipLocator::new().max_search_space(signature_bytes);
        let reader = Positioned(RefCell::new(file));
        let found = locator.locate_in_reader(reader, &mut buffer, end_record + signature_bytes);
        Ok(found.ok().map(|archive| Self { archive, file_bytes }))
    }

    /// Where it ends in the file, its comment included.
    pub fn end(&self) -> u64 {
        self.archive.end_offset()
    }

    /// Whether nothing comes behind it.
    pub fn ends_the_file(&self) -> bool {
        self.end() == self.file_bytes
    }

    /// Whether all that its end record says leads to one directory, the one right before it. Programs go by the offset, by the size or
    /// by what replaces either, and choose differently where these differ.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn has_one_directory(&self) -> io::Result<bool> {
        let Some(start) = self.archive.eocd_offset().checked_sub(ZIP64_LOCATOR_BYTES as u64) else {
            return Ok(false);
        };
        let mut bytes = [0; ZIP64_LOCATOR_BYTES + END_RECORD_BYTES];
        let mut file = self.archive.get_ref().0.borrow_mut();
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        let (before, record) = bytes.split_at(ZIP64_LOCATOR_BYTES);
        let directory_bytes = u32::from_le_bytes([record[12], record[13], record[14], record[15]]);
        let is_on_one_disk = record[4..8] == [0; 4] && record[8..10] == record[10..12];
        Ok(!before.starts_with(&ZIP64_LOCATOR)
            && is_on_one_disk
            && u64::from(directory_bytes) == self.directory_bytes())
    }

    /// How many entries it says it has.
    pub fn told_entries(&self) -> u64 {
        self.archive.entries_hint()
    }

    /// Where its directory begins.
    pub fn directory_offset(&self) -> u64 {
        self.archive.directory_offset()
    }

    /// How many bytes its directory has.
    pub fn directory_bytes(&self) -> u64 {
        self.archive.eocd_offset().saturating_sub(self.directory_offset())
    }

    /// Shows the entries of the directory, one after the other.
    ///
    /// # Errors
    ///
    /// If one cannot be read.
    pub fn for_each(&self, mut visit: impl FnMut(&ZipFileHeaderRecord<'_>)) -> Result<(), rawzip::Error> {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let mut entries = self.archive.entries(&mut buffer);
        while let Some(entry) = entries.next_entry()? {
            visit(&entry);
        }
        Ok(())
    }

    /// The archive itself, to open an entry of it.
    pub fn inner(&self) -> &ZipArchive<Positioned<'a, F>> {
        &self.archive
    }
}
