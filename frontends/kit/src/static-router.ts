/** The router for prerendering. It is no part of the shared facade: browsers never need it. */
export { StaticRouter } from 'react-router-dom';
