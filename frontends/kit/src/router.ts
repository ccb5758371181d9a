/**
 * Router that all front ends share. Sharing react-router-dom itself would bundle all of it, so this module
 * exports only the names in use. Import it as `@site/kit/router.ts`, also within the kit: a relative import
 * would bundle a second router with another context.
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
