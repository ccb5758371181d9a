import { Detection } from './detection.tsx';
import drawing from './shop.svg';

/** A shop as its camera sees it. */
export function ShopScene() {
  return (
    <svg
      viewBox="-275 -100 550 440"
      role="img"
      aria-label="A shop seen by a camera: four people found, one of them marked as an alert"
      className="h-auto w-full overflow-visible"
    >
      <use href={`${drawing}#scene`} x="-275" y="-100" width="550" height="440" />
      <Detection x={-135.4} y={180.2} label="person 0.97" delay={0.2} />
      <Detection x={-7.4} y={104.6} label="person 0.98" delay={0.5} />
      <Detection x={41.2} y={251.6} label="staff 0.99" delay={0.9} />
      <Detection x={79.5} y={147.9} label="concealing 0.91" delay={1.5} kind="alert" />
    </svg>
  );
}
