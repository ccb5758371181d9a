/**
 * The router as our front ends share it. Sharing react-router-dom itself would keep all of it
 * in the bundle, so only what is used is named here. Everyone imports it by its package's name, kit
 * too: a relative import would bring a second router that the first one's context does not reach.
 */
export {
  matchPath,
  Navigate,
  Route,
  Routes,
  useLocation,
  useNavigationType,
  useParams,
  useSearchParams,
} from 'react-router-dom';
export { BrowserRouter, Link, NavLink } from './link.tsx';
