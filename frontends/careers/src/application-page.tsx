import { ButtonLink } from '@site/kit/button.tsx';
import { Confirmation } from '@site/kit/confirmation.tsx';
import { FooterMarker } from '@site/kit/footer-marker.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import { PageMeta } from '@site/kit/page-meta.tsx';
import * as paths from '@site/kit/paths.ts';
import { useParams } from '@site/kit/router.ts';
import type { Toast } from '@site/kit/toast.ts';
import { useState } from 'react';
import { ApplicationForm } from './application-form.tsx';
import type { Position } from './positions.ts';
import { positions } from './positions.ts';
import './styles.css';
import preview from './pictures/careers.jpg';

/** Version of this remote's build. */
export const version = REMOTE_VERSION;

/** `/careers/apply`, and `/careers/apply/{positionId}`: the form for whoever does not open it at `/careers`. */
export default function ApplicationPage() {
  const { '*': id = '' } = useParams();
  const position = positions.find(candidate => String(candidate.id) === id);
  return id && !position ? <PositionNotFound /> : <Application key={id} position={position} />;
}

function Application({ position }: { position: Position | undefined }) {
  const [resume, setResume] = useState<File>();
  const [submitted, setSubmitted] = useState<Toast>();
  const title = position ? `Apply: ${position.title}` : 'Apply for an internship';
  return (
    <>
      <PageMeta
        title={title}
        description="Send us your résumé and a few lines about yourself."
        {...(position ? {} : { path: paths.apply })}
        picture={preview}
      />
      <PageHeader title={title}>
        <div className="w-full max-w-2xl">
          {submitted ? (
            <Confirmation title={submitted.title}>{submitted.text}</Confirmation>
          ) : (
            <ApplicationForm
              position={position?.title ?? ''}
              resume={resume}
              onResume={setResume}
              onSubmitted={setSubmitted}
            />
          )}
        </div>
      </PageHeader>
    </>
  );
}

function PositionNotFound() {
  const title = 'Position Not Found';
  const text = 'This position does not exist, or is no longer open.';
  return (
    <>
      <PageMeta title={title} description={text} />
      <PageHeader title={title} subtitle={text}>
        <ButtonLink to={paths.careers}>View All Positions</ButtonLink>
      </PageHeader>
      <FooterMarker />
    </>
  );
}
