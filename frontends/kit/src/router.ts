/**
 * The router as our front ends share it. Sharing react-router-dom itself would keep all of it
 * in the bundle, so only what is used is named here.
 */
export {
  BrowserRouter,
  Link,
  matchPath,
  Navigate,
  NavLink,
  Route,
  Routes,
  useLocation,
  useParams,
  useSearchParams,
} from 'react-router-dom';
