import { showAlone } from '@site/kit/alone.tsx';
import { Navigate } from '@site/kit/router.ts';
import ApplicationPage from './application-page.tsx';
import CareersPage from './careers-page.tsx';

showAlone({
  name: 'careers',
  pages: {
    '/': () => <Navigate to="/careers" replace />,
    '/careers': CareersPage,
    '/careers/apply/*': ApplicationPage,
  },
});
