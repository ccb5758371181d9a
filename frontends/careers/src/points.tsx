interface PointsProps {
  title: string;
  points: readonly string[];
  as: 'h3' | 'h4';
}

export function Points({ title, points, as: Title }: PointsProps) {
  return (
    <div>
      <Title className="font-semibold">{title}</Title>
      <ul className="mt-2 list-[square] pl-5 text-ink-2">
        {points.map(point => (
          <li key={point} className="mt-1">
            {point}
          </li>
        ))}
      </ul>
    </div>
  );
}
