/**
 * Loader that makes the router's module tree-shakable. It drops the assignments of `displayName`, and marks
 * the calls that create components and contexts as pure.
 */
export default function load(source: string): string {
  return source
    .replace(/^\w+\.displayName = "\w+";$/gm, '')
    .replace(/ = (React\d*\.(?:createContext|forwardRef|memo)\()/g, ' = /* @__PURE__ */ $1');
}
