import { Accordion } from '@site/kit/accordion.tsx';
import { Alert } from '@site/kit/alert.tsx';
import { Button, ButtonLink, DisabledLink } from '@site/kit/button.tsx';
import { Card } from '@site/kit/card.tsx';
import { Confirmation } from '@site/kit/confirmation.tsx';
import { Dialog } from '@site/kit/dialog.tsx';
import { EmailField, TextAreaField, TextField } from '@site/kit/field.tsx';
import { InitialsAvatar } from '@site/kit/initials-avatar.tsx';
import { LoadError } from '@site/kit/load-error.tsx';
import { NewsletterForm } from '@site/kit/newsletter-form.tsx';
import { PageHeader } from '@site/kit/page-header.tsx';
import * as paths from '@site/kit/paths.ts';
import { Picture } from '@site/kit/picture.tsx';
import { Reveal } from '@site/kit/reveal.tsx';
import { Section } from '@site/kit/section.tsx';
import { SubmitButtons } from '@site/kit/submit-buttons.tsx';
import { showToast } from '@site/kit/toast-region.tsx';
import { Tooltip } from '@site/kit/tooltip.tsx';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { Icon, iconNames } from '../frame/icon.tsx';
import { emptyRoom } from '../scenes/scenes.ts';

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
        breadcrumb={[]}
        icon={<Icon name="document" className="mb-4 size-10 text-seen-ink" />}
        picture={<Picture {...emptyRoom} alt="" />}
      >
        <Button>Action</Button>
      </PageHeader>
      <Tokens />
      <Buttons />
      <Section title="InitialsAvatar">
        <InitialsAvatar of="Ada Lovelace" className="size-24" />
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
      <Section title="Picture" lead="Loads near the viewport; says so when it cannot.">
        <div className="grid gap-6 sm:grid-cols-2">
          <Picture {...emptyRoom} alt="A room" />
          <Picture {...emptyRoom} src="/no-such-picture.svg" alt="What is not there" />
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

function Buttons() {
  return (
    <>
      <Section
        title="Button, ButtonLink and DisabledLink"
        lead="One primary action a page; all others are secondary."
      >
        <Row>
          <Button>Primary</Button>
          <Button disabled>Disabled</Button>
          <Button size="small">Small</Button>
          <Button variant="secondary">Secondary</Button>
          <Button variant="selected">Selected</Button>
          <Button variant="secondary" size="small">
            Secondary and small
          </Button>
          <ButtonLink to={paths.contact}>A link</ButtonLink>
          <ButtonLink to={paths.contact} variant="secondary">
            A secondary link
          </ButtonLink>
          <DisabledLink>A link that leads nowhere yet</DisabledLink>
        </Row>
      </Section>
      <Section title="SubmitButtons" lead="While a form is sent, it can be called off.">
        <SubmitButtons title="Send" state={{ status: 'idle' }} onCancel={() => undefined} />
        <div className="mt-4">
          <SubmitButtons
            title="Send"
            state={{ status: 'submitting', uploadProgress: 0 }}
            onCancel={() => undefined}
          />
        </div>
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
    <Section title="TextField, EmailField and TextAreaField">
      <TextField label="A line" placeholder="With a placeholder" />
      <TextField
        label="A line that is wrong"
        defaultValue="asha@"
        error="Enter an e-mail address."
      />
      <TextField label="A line with a limit: type more than eight characters" maxLength={9} />
      <TextField label="A line that is locked" disabled />
      <EmailField label="An address: try one at gmial.com" />
      <TextAreaField label="Several lines" rows={3} />
      <TextAreaField label="Several wrong lines" rows={3} error="Say a little more." />
    </Section>
  );
}

function Windows() {
  const [state, setState] = useState<'open' | 'closed'>('closed');
  return (
    <Section title="Dialog, ToastRegion and Tooltip">
      <Row>
        <Button onClick={() => setState('open')}>Open a dialog</Button>
        {(['success', 'error', 'overlay'] as const).map(kind => (
          <Button
            key={kind}
            variant="secondary"
            onClick={() => showToast({ kind, title: `A toast: ${kind}`, text: 'What happened.' })}
          >
            Toast: {kind}
          </Button>
        ))}
        <Tooltip text="What it does">
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
          <Button variant="secondary" onClick={() => setShown('alert')}>
            What went wrong
          </Button>
        </Row>
      </div>
      {shown === 'confirmation' ? (
        <Confirmation title="Message Sent Successfully!">We will reply.</Confirmation>
      ) : null}
      {shown === 'alert' ? <Alert>Failed to send message</Alert> : null}
      <h3 className="mt-10 mb-4 text-subheading">LoadError</h3>
      <LoadError what="This part of the site" onRetry={() => setShown('nothing')} />
    </Section>
  );
}

function Row({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-4">{children}</div>;
}
