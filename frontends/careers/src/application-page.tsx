import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { InPageApplication } from './in-page-application.tsx';
import './styles.css';
import preview from './pictures/apply.jpg';

export const version = REMOTE_VERSION;

const TITLE = 'Apply for an internship';

/** `/careers/apply`: the form without a position. Without JavaScript it replaces the dialog of `/careers`. */
export default function ApplicationPage() {
  return (
    <>
      <PageMeta
        title={TITLE}
        description="Send us your résumé and a few lines about yourself."
        path={paths.apply}
        picture={preview}
      />
      <PageHeader title={TITLE}>
        <InPageApplication position="" />
      </PageHeader>
    </>
  );
}
