const drawings = {
  shop: 'M4 10v9h16v-9M3 10l2-5h14l2 5zM9 19v-5h6v5',
  bank: 'M3 9l9-5 9 5zM5 9v8M10 9v8M14 9v8M19 9v8M3 20h18M3 17h18',
  factory: 'M3 20V9l6 4V9l6 4V4h6v16zM7 17h2M12 17h2M17 17h1',
  road: 'M8 3L4 21M16 3l4 18M12 4v3M12 10.5v3M12 17v3',
  city: 'M3 20h18M5 20V9h6v11M11 20V4h8v16M7.5 12.5h1M7.5 16h1M14 8h2M14 12h2M14 16h2',
  home: 'M3 11l9-7 9 7M6 9v11h12V9M10 20v-6h4v6',
  shield: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4',
  document: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M5 5l14 14M19 5L5 19',
  down: 'M6 9l6 6 6-6',
  network: 'M5 9v10M5 5v.5M10 19v-6a4 4 0 0 1 8 0v6M10 9v10',
  microblog: 'M4 4l16 16M20 4L4 20',
  video: 'M3 6h18v12H3zM10 9l5 3-5 3z',
  photos: 'M4 4h16v16H4zM12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM17 7h.5',
  mail: 'M3 6h18v12H3zM3 7l9 6 9-6',
  phone:
    'M6 3h3l2 5-2.5 2a12 12 0 0 0 5.5 5.5L16 13l5 2v3a3 3 0 0 1-3 3A15 15 0 0 1 3 6a3 3 0 0 1 3-3z',
  place:
    'M12 21s-7-6-7-11a7 7 0 0 1 14 0c0 5-7 11-7 11zM12 7.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
} as const;

export type IconName = keyof typeof drawings;

/** Decorative: the text beside it says the same. */
export function Icon({ name, className = 'size-6' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 24 24"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinejoin="round"
      strokeLinecap="round"
      className={`shrink-0 ${className}`}
    >
      <path d={drawings[name]} />
    </svg>
  );
}

export function isIconName(name: string): name is IconName {
  return name in drawings;
}
