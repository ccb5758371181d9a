type KeyName = 'Tab' | 'Enter' | 'Escape' | 'Space';

export interface ElementHandle {
  click: () => Promise<void>;
  /** Moves the pointer here in a straight line, over all elements on its way. */
  hover: () => Promise<void>;
  type: (words: string) => Promise<void>;
  attach: (file: string) => Promise<void>;
}

export interface Tab {
  /** Waits until the page is loaded. */
  open: (address: string) => Promise<void>;
  evaluate: (expression: string) => Promise<unknown>;
  find: (expression: string) => Promise<ElementHandle | undefined>;
  press: (key: KeyName) => Promise<void>;
  /** Types into the focused element. */
  type: (words: string) => Promise<void>;
  /** Whether assistive technology gets the focus with this role and name. */
  exposesFocus: (role: string, name: string) => Promise<boolean>;
  /** A PNG file in base64. */
  screenshot: () => Promise<string>;
  close: () => Promise<void>;
}

export interface Browser {
  tab: () => Promise<Tab>;
  stop: () => Promise<void>;
}

export type Scheme = 'light' | 'dark';

export interface Engine {
  name: string;
  /** Whether a drawing in an `img` takes the element's colour scheme. */
  drawings: 'follow the theme' | 'stay light';
  /** Debian package of each program, by the program's path. */
  programs: Readonly<Record<string, string>>;
  start: (system: Scheme) => Promise<Browser>;
}

/** Steps of a pointer movement, which must not take long. */
export const STEPS = 6;

export const WINDOW = { width: 1440, height: 900 };

/** Long enough for a busy machine. */
export const VISIBLE_TIMEOUT_MS = 20_000;
