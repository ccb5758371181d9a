// Marks each button that is pressed with the time: one that React has not hydrated yet is pressed again once it has
// (`early-press.ts` of the kit). Before React, which stops what is pressed in a part that has not come yet.
addEventListener(
  'click',
  ({ target, timeStamp }) => target.closest?.('button')?.setAttribute('data-pressed', timeStamp),
  true,
);
