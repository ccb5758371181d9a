import { brand } from '@site/kit/brand.ts';
import { RefusedPage } from '@site/kit/refused-page.tsx';
import { InPageApplication } from './in-page-application.tsx';
import './styles.css';

export const version = REMOTE_VERSION;

/** `/careers/not-applied` */
export default function NotApplied() {
  return (
    <RefusedPage title="Not submitted yet" email={brand.emails.careers}>
      <p className="mb-5">Choose your résumé again: browsers keep no file of a form.</p>
      <InPageApplication position="" />
    </RefusedPage>
  );
}
