/** Keys that tests press. */
type KeyName = 'Tab' | 'Enter' | 'Escape' | 'Space';

/** An element of a page, used as a person uses it. */
export interface ElementHandle {
  click: () => Promise<void>;
  /** Moves the pointer there, on a straight path, over all that lies between. */
  hover: () => Promise<void>;
  type: (words: string) => Promise<void>;
  /** Chooses a file of this machine. */
  attach: (file: string) => Promise<void>;
}

/** A visitor's tab. */
export interface Tab {
  /** Opens an address and waits until it is loaded. */
  open: (address: string) => Promise<void>;
  /** What an expression is in the page. */
  evaluate: (expression: string) => Promise<unknown>;
  /** The element that an expression is, if it is one. */
  find: (expression: string) => Promise<ElementHandle | undefined>;
  press: (key: KeyName) => Promise<void>;
  /** Types into what has the focus. */
  type: (words: string) => Promise<void>;
  /** Whether the engine exposes the focus to assistive technology with this role and name. */
  exposesFocus: (role: string, name: string) => Promise<boolean>;
  /** A PNG file of the viewport, in base64. */
  screenshot: () => Promise<string>;
  close: () => Promise<void>;
}

/** A browser that runs. */
export interface Browser {
  tab: () => Promise<Tab>;
  stop: () => Promise<void>;
}

/** A colour scheme, as a system has one. */
export type Scheme = 'light' | 'dark';

/** A browser engine of the system. */
export interface Engine {
  name: string;
  /** Whether a drawing in an `img` has the colour scheme of the element, or is light whatever there is. */
  drawings: 'follow the theme' | 'stay light';
  /** The programs it needs, each with Debian's package of it. */
  programs: Readonly<Record<string, string>>;
  start: (system: Scheme) => Promise<Browser>;
}

/** How many places a pointer is seen in on its way to a thing: few, so that it is there within a moment. */
export const STEPS = 6;

/** The size of the window that pages are seen in. */
export const WINDOW = { width: 1440, height: 900 };

/** Until what is to be seen is there, on a machine that does other things, too. */
export const VISIBLE_TIMEOUT_MS = 20_000;
