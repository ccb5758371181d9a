// Marks each pressed button with the time. The kit's `early-press.ts` repeats presses from before hydration. This
// listener runs before React's, because React stops clicks in parts that are not hydrated yet.
addEventListener(
  'click',
  ({ target, timeStamp }) => target.closest?.('button')?.setAttribute('data-pressed', timeStamp),
  true,
);
