export interface Material {
  top: string;
  left: string;
  right: string;
}

/** Colours of scenes: the kit's tokens, so that scenes follow the theme. */
export const sceneColours = {
  ground: 'var(--raised)',
  path: 'var(--road)',
  grid: 'var(--line)',
  line: 'var(--stroke)',
  seen: 'var(--seen)',
  alert: 'var(--alert)',
  onSeen: 'var(--on-seen)',
  lit: 'var(--lit)',
  glass: 'color-mix(in srgb,var(--stroke) 30%,var(--face-r))',
  screen: 'var(--screen)',
} as const;

const tinted = (ink: string, part: number): Material => ({
  top: `color-mix(in srgb,${ink} ${part}%,var(--face-t))`,
  left: `color-mix(in srgb,${ink} ${part}%,var(--face-l))`,
  right: `color-mix(in srgb,${ink} ${part}%,var(--face-r))`,
});

export const materials = {
  plain: { top: 'var(--face-t)', left: 'var(--face-l)', right: 'var(--face-r)' },
  low: { top: 'var(--face-l)', left: 'var(--face-r)', right: 'var(--road)' },
  ware: tinted(sceneColours.seen, 55),
  pale: tinted(sceneColours.line, 14),
  glass: tinted(sceneColours.line, 34),
  dark: tinted(sceneColours.screen, 82),
  warm: tinted(sceneColours.alert, 50),
} as const satisfies Record<string, Material>;
