// A browser opens a file that is dropped on a page in the page's place, and what was typed there is gone. Only a field for
// files takes one; the application's has more room for it (`use-dropped-files.ts` of careers). Before React, which stops what
// happens in a part that has not come yet.
for (const type of ['dragover', 'drop']) {
  addEventListener(
    type,
    event => {
      if (event.dataTransfer?.types.includes('Files') && event.target.type !== 'file') {
        event.preventDefault();
      }
    },
    true,
  );
}
