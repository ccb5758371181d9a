import { showAlone } from '@site/kit/alone.tsx';
import * as paths from '@site/kit/paths.ts';
import { Navigate } from '@site/kit/router.ts';
import ApplicationPage from './application-page.tsx';
import CareersPage from './careers-page.tsx';

showAlone({
  name: 'careers',
  pages: {
    [paths.home]: () => <Navigate to={paths.careers} replace />,
    [paths.careers]: CareersPage,
    [paths.kinds.application[0]]: ApplicationPage,
  },
});
