/** The home page's drawing on wide screens: its size, and that of its labels. */
export const HERO_WIDE = { width: 800, height: 520, type: 20 } as const;
/** The same on screens below 40 rem. */
export const HERO_NARROW = { width: 480, height: 376, type: 19 } as const;
