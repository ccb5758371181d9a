import * as paths from '@site/kit/paths.ts';
import { Navigate } from '@site/kit/router.ts';
import { mountStandalone } from '@site/kit/standalone.tsx';
import ApplicationPage from './application-page.tsx';
import CareersPage from './careers-page.tsx';
import PositionPage from './position-page.tsx';

mountStandalone({
  name: 'careers',
  pages: {
    [paths.home]: () => <Navigate to={paths.careers} replace />,
    [paths.careers]: CareersPage,
    [paths.routePatterns.application[0]]: ApplicationPage,
    [paths.routePatterns.position[0]]: PositionPage,
  },
});
