//! ZIP archives, read entry by entry: how many there are costs no memory.

use std::{
    cell::RefCell,
    io::{self, Read, Seek, SeekFrom},
};

use rawzip::{RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive, ZipFileHeaderRecord, ZipLocator};

/// The end record and the longest comment behind it (APPNOTE 4.3.16): no reader looks further back from the end.
const END_WITHIN_BYTES: u64 = 22 + 65_535;

/// An archive that was found at the end of a file.
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
    /// The archive whose end record is nearest to the end of the file; `None` where there is none that could be read.
    ///
    /// # Errors
    ///
    /// If the file has no end.
    pub fn find(file: &'a mut F) -> io::Result<Option<Self>> {
        let file_bytes = file.seek(SeekFrom::End(0))?;
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let locator = ZipLocator::new().max_search_space(END_WITHIN_BYTES);
        let found = locator.locate_in_reader(Positioned(RefCell::new(file)), &mut buffer, file_bytes);
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

    /// Whether it holds an entry that could be read.
    pub fn has_entries(&self) -> bool {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let mut entries = self.archive.entries(&mut buffer);
        matches!(entries.next_entry(), Ok(Some(_)))
    }

    /// How many entries it says it has.
    pub fn told_entries(&self) -> u64 {
        self.archive.entries_hint()
    }

    /// How many bytes its directory has.
    pub fn directory_bytes(&self) -> u64 {
        let (start, end) = (self.archive.directory_offset(), self.archive.eocd_offset());
        end.saturating_sub(start)
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
