// Keeps the browser from opening a dropped file in place of the page, which would lose typed text. File inputs still
// take files, and so does the whole application form (`use-dropped-files.ts` of careers). These listeners run before
// React's, because React stops events in parts that are not hydrated yet.
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
