/** Router for prerendering. It is not part of `router.ts`, because browsers never need it. */
export { StaticRouter } from 'react-router-dom';
