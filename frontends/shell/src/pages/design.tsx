import { Accordion } from '@site/kit/accordion.tsx';
import { Button, ButtonLink, MissingLink } from '@site/kit/button.tsx';
import { Card } from '@site/kit/card.tsx';
import { Dialog } from '@site/kit/dialog.tsx';
import { DidNotLoad } from '@site/kit/did-not-load.tsx';
import { Field, TextField } from '@site/kit/field.tsx';
import { Alert, Confirmation } from '@site/kit/confirmation.tsx';
import { Monogram } from '@site/kit/monogram.tsx';
import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { notify } from '@site/kit/toast-region.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Reveal } from '@site/kit/reveal.tsx';
import { Section } from '@site/kit/section.tsx';
import { SubmitButtons } from '@site/kit/submit-buttons.tsx';
import { Tooltip } from '@site/kit/tooltip.tsx';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { Icon, iconNames } from '../frame/icon.tsx';
import { opening } from '../scenes/scenes.ts';

const COLOURS = [
  ...['paper', 'raised', 'sunk', 'line', 'ink', 'ink-2'],
  ...['seen', 'seen-ink', 'on-seen', 'alert', 'alert-ink', 'good-ink', 'field-line'],
];
const TYPE = [
  'text-title',
  'text-heading',
  'text-subheading',
  'text-lead',
  'text-base',
  'text-small',
];

/** `/design`, in development only: every primitive of the kit in every state, in both themes. */
export default function Design() {
  return (
    <div className="grid xl:grid-cols-2">
      {(['light', 'dark'] as const).map(theme => (
        <div key={theme} className={`${theme} min-w-0 bg-paper text-ink`}>
          <Primitives theme={theme} />
        </div>
      ))}
    </div>
  );
}

function Primitives({ theme }: { theme: string }) {
  return (
    <>
      <PageHeader
        title="Design"
        subtitle={`The kit in its ${theme} theme. PageHeader has a breadcrumb, an icon and a picture; every part below is a Section.`}
        breadcrumb="home"
        icon={<Icon name="document" className="mb-4 size-10 text-seen-ink" />}
        picture={<Picture {...opening} alt="" />}
      >
        <Button>Action</Button>
      </PageHeader>
      <Tokens />
      <Section
        title="Button, ButtonLink and MissingLink"
        lead="One main action a view; all others are quiet."
      >
        <Row>
          <Button>Main</Button>
          <Button disabled>Disabled</Button>
          <Button size="small">Small</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="chosen">Chosen</Button>
          <Button kind="quiet" size="small">
            Quiet and small
          </Button>
          <ButtonLink to={paths.contact}>A link</ButtonLink>
          <ButtonLink to={paths.contact} kind="quiet">
            A quiet link
          </ButtonLink>
          <MissingLink>A link that leads nowhere yet</MissingLink>
        </Row>
      </Section>
      <Section title="SubmitButtons" lead="While a form is sent, it can be called off.">
        <SubmitButtons title="Send" state={{ is: 'idle' }} onCancel={() => undefined} />
        <div className="mt-4">
          <SubmitButtons
            title="Send"
            state={{ is: 'submitting', progress: 0 }}
            onCancel={() => undefined}
          />
        </div>
      </Section>
      <Section title="Monogram">
        <Monogram of="Ada Lovelace" className="size-24" />
      </Section>
      <Fields />
      <Section title="Accordion" lead="One item is open at a time.">
        <Accordion
          items={[
            { title: 'A question', content: 'Its answer.' },
            { title: 'Another question', content: 'Another answer.' },
          ]}
        />
      </Section>
      <Windows />
      <Section title="Picture" lead="Loads near the view; says so when it cannot.">
        <div className="grid gap-6 sm:grid-cols-2">
          <Picture {...opening} alt="A shop" />
          <Picture {...opening} src="/no-such-picture.svg" alt="What is not there" />
        </div>
      </Section>
      <Section title="Reveal and Card" lead="Fades in when it is scrolled into view.">
        <Reveal>
          <Card className="p-6">Pointed at, a card shows its corners.</Card>
        </Reveal>
      </Section>
      <Messages />
      <Section title="NewsletterForm and PrivacyNote">
        <NewsletterForm />
      </Section>
    </>
  );
}

function Tokens() {
  return (
    <Section
      title="Tokens"
      lead="Colour, type and icons; the values stand in the kit’s tokens.css."
    >
      <ul className="mb-8 grid grid-cols-swatch gap-4">
        {COLOURS.map(colour => (
          <li key={colour} className="font-mono text-small">
            <span
              className="mb-1 block h-14 border border-line"
              style={{ background: `var(--${colour})` }}
            />
            {colour}
          </li>
        ))}
      </ul>
      {TYPE.map(type => (
        <p key={type} className={`${type} mb-2 truncate`}>
          {type.slice(5)}
        </p>
      ))}
      <Row>
        {iconNames.map(name => (
          <Icon key={name} name={name} />
        ))}
      </Row>
    </Section>
  );
}

function Fields() {
  return (
    <Section title="Field and TextField">
      <Field label="A line" placeholder="With a placeholder" />
      <Field label="A line that is wrong" defaultValue="asha@" error="Enter an e-mail address." />
      <Field label="A line with a limit: type more than eight characters" maxLength={9} />
      <Field label="A line that is locked" disabled />
      <TextField label="Several lines" rows={3} />
      <TextField label="Several wrong lines" rows={3} error="Say a little more." />
    </Section>
  );
}

function Windows() {
  const [state, setState] = useState<'open' | 'closed'>('closed');
  return (
    <Section title="Dialog, Notices and Tooltip">
      <Row>
        <Button onClick={() => setState('open')}>Open a dialog</Button>
        {(['success', 'error', 'overlay'] as const).map(kind => (
          <Button
            key={kind}
            kind="quiet"
            onClick={() => notify({ kind, title: `A notice: ${kind}`, text: 'What happened.' })}
          >
            Notice: {kind}
          </Button>
        ))}
        <Tooltip words="What it does">
          <button
            type="button"
            aria-label="What it does"
            className="inline-flex size-11 items-center justify-center"
          >
            <Icon name="shield" />
          </button>
        </Tooltip>
      </Row>
      <Dialog title="A dialog" state={state} onClose={() => setState('closed')}>
        <p className="mb-4">It keeps the focus until it is closed.</p>
        <Button onClick={() => setState('closed')}>Close</Button>
      </Dialog>
    </Section>
  );
}

function Messages() {
  const [shown, setShown] = useState<'nothing' | 'confirmation' | 'alert'>('nothing');
  return (
    <Section title="Confirmation and Alert" lead="They take the focus.">
      <div className="mb-6">
        <Row>
          <Button onClick={() => setShown('confirmation')}>What went well</Button>
          <Button kind="quiet" onClick={() => setShown('alert')}>
            What went wrong
          </Button>
        </Row>
      </div>
      {shown === 'confirmation' ? (
        <Confirmation title="Message Sent Successfully!">We will reply.</Confirmation>
      ) : null}
      {shown === 'alert' ? <Alert>Failed to send message</Alert> : null}
      <h3 className="mt-10 mb-4 text-subheading">DidNotLoad</h3>
      <DidNotLoad what="This part of the site" onRetry={() => setShown('nothing')} />
    </Section>
  );
}

function Row({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-4">{children}</div>;
}
