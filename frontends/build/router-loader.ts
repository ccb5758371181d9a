/**
 * Loader of the router's module, from which bundlers leave out only what surely does nothing: the names of components in
 * React's developer tools are dropped, and the calls that make components and contexts are called pure.
 */
export default function load(source: string): string {
  return source
    .replace(/^\w+\.displayName = "\w+";$/gm, '')
    .replace(/ = (React\d*\.(?:createContext|forwardRef|memo)\()/g, ' = /* @__PURE__ */ $1');
}
