interface DetectionProps {
  /** The middle of the lower edge, where the thing found stands. */
  x: number;
  y: number;
  width?: number;
  height?: number;
  /** What it is and how sure the machine is. */
  label: string;
  kind?: 'seen' | 'alert';
  /** Seconds until it locks on. */
  delay?: number;
}

const CORNER = 7;

/** What the machine has found: corner brackets, and a label on the upper edge. */
export function Detection({
  x,
  y,
  width = 30,
  height = 44,
  label,
  kind = 'seen',
  delay = 0,
}: DetectionProps) {
  const left = x - width / 2;
  const right = left + width;
  const top = y + 5 - height;
  const bottom = top + height;
  const brackets =
    `M${left} ${top + CORNER}v${-CORNER}h${CORNER}M${right - CORNER} ${top}h${CORNER}v${CORNER}` +
    `M${right} ${bottom - CORNER}v${CORNER}h${-CORNER}M${left + CORNER} ${bottom}h${-CORNER}v${-CORNER}`;
  return (
    <g className="detection" data-kind={kind} style={{ animationDelay: `${delay}s` }}>
      <rect x={left} y={top} width={width} height={height} className="fine" />
      <path d={brackets} />
      <g transform={`translate(${left} ${top - 17})`}>
        <rect width={6.1 * label.length + 10} height="15" className="tag" />
        <text x="5" y="11">
          {label}
        </text>
      </g>
    </g>
  );
}
