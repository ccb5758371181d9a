interface InitialsAvatarProps {
  of: string;
  className?: string;
}

export function InitialsAvatar({ of, className = '' }: InitialsAvatarProps) {
  return (
    <svg
      viewBox="0 0 200 200"
      role="img"
      aria-label={`Monogram: ${of}`}
      className={`border border-line bg-sunk ${className}`}
    >
      <path
        d="M100 108a34 34 0 1 0 0-68 34 34 0 0 0 0 68z"
        fill="var(--face-l)"
        stroke="var(--stroke)"
      />
      <path d="M36 200c4-46 28-74 64-74s60 28 64 74" fill="var(--face-r)" stroke="var(--stroke)" />
      <text
        x="100"
        y="85"
        textAnchor="middle"
        fontSize="28"
        fontWeight="600"
        fill="var(--ink)"
        fontFamily="var(--sans)"
      >
        {initialsOf(of)}
      </text>
      <path
        d="M56 44V28h16M128 28h16v16M144 104v16h-16M72 120H56v-16"
        fill="none"
        stroke="var(--seen)"
        strokeWidth="3"
      />
    </svg>
  );
}

function initialsOf(words: string): string {
  const short = words.match(/^[A-Z]{2,3}$/)?.[0];
  const initials = words.match(/\b[A-Z]/g)?.join('') ?? '';
  return short ?? initials.slice(0, 3);
}
