/** The router for rendering pages ahead of time. It is no part of the shared facade: browsers never need it. */
export { StaticRouter } from 'react-router-dom';
