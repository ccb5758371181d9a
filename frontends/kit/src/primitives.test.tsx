// @vitest-environment happy-dom
import { BrowserRouter } from '@site/kit/router.ts';
import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { Accordion } from './accordion.tsx';
import { Button, ButtonLink } from './button.tsx';
import { Card } from './card.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { Honeypot } from './honeypot.tsx';
import { PageHeader } from './page-header.tsx';
import { Section } from './section.tsx';

test('a button submits only with type submit', async () => {
  const press = vi.fn();
  const submit = vi.fn(event => event.preventDefault());
  render(
    <form onSubmit={submit}>
      <Button onClick={press} disabled>
        Not now
      </Button>
      <Button onClick={press}>Cancel</Button>
      <Button type="submit">Send</Button>
    </form>,
  );
  await userEvent.click(screen.getByRole('button', { name: 'Not now' }));
  expect(press).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  expect(press).toHaveBeenCalledTimes(1);
  expect(submit).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  expect(submit).toHaveBeenCalledTimes(1);
});

test('a link that looks like a button has its target', () => {
  render(
    <BrowserRouter>
      <ButtonLink to="/contact">Get Demo</ButtonLink>
    </BrowserRouter>,
  );
  expect(screen.getByRole('link', { name: 'Get Demo' }).getAttribute('href')).toBe('/contact');
});

test('a section is named by its heading', () => {
  render(
    <Section title="Open Positions" lead="Ten of them">
      <Card>Intern</Card>
    </Section>,
  );
  const section = screen.getByRole('region', { name: 'Open Positions' });
  expect(within(section).getByRole('heading', { level: 2 })).toBeTruthy();
  expect(within(section).getByText('Ten of them')).toBeTruthy();
  expect(within(section).getByRole('article').textContent).toBe('Intern');
});

test('a page header has a title and an optional subtitle (section 2)', () => {
  const { rerender } = render(<PageHeader title="Privacy Policy" />);
  const header = screen.getByRole('banner');
  expect(header.textContent).toBe('Privacy Policy');
  rerender(<PageHeader title="Careers" subtitle="Come and look" />);
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Careers');
  expect(header.textContent).toContain('Come and look');
});

test('the items of an accordion form one exclusive group', () => {
  const items = [
    { title: 'Which cameras?', content: 'Yours.' },
    { title: 'How soon?', content: 'Soon.' },
  ];
  const { container } = render(
    <>
      <Accordion items={items} />
      <Accordion items={items.slice(1)} />
    </>,
  );
  const groups = Array.from(container.querySelectorAll('details'), item =>
    item.getAttribute('name'),
  );
  expect(groups[0]).toBeTruthy();
  expect(groups[1]).toBe(groups[0]);
  expect(groups[2]).not.toBe(groups[0]);
  expect(container.querySelectorAll('details[open]')).toHaveLength(0);
});

test('neither keyboard nor autofill reaches the honeypot', () => {
  render(<Honeypot />);
  const field = screen.getByLabelText('Leave this empty');
  expect(field.closest('[hidden]')).not.toBeNull();
  expect(field.getAttribute('tabindex')).toBe('-1');
  expect(field.getAttribute('autocomplete')).toBe('off');
});

function Window({ onClose }: { onClose: () => void }) {
  const [state, setState] = useState<'open' | 'closed'>('closed');
  return (
    <>
      <Button onClick={() => setState('open')}>Apply Now</Button>
      <Dialog
        title="AI Intern"
        state={state}
        onClose={() => {
          setState('closed');
          onClose();
        }}
      >
        <TextField label="Full Name" />
      </Dialog>
    </>
  );
}

test('a dialog is modal, named, and empty while closed', async () => {
  const showModal = vi.spyOn(HTMLDialogElement.prototype, 'showModal');
  const onClose = vi.fn();
  render(<Window onClose={onClose} />);
  expect(screen.queryByLabelText('Full Name')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Apply Now' }));
  expect(showModal).toHaveBeenCalledTimes(1);
  const dialog = screen.getByRole('dialog', { name: 'AI Intern' });
  expect(document.activeElement).toBe(within(dialog).getByLabelText('Full Name'));
  await userEvent.click(within(dialog).getByRole('button', { name: 'Close' }));
  expect(onClose).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(screen.queryByLabelText('Full Name')).toBeNull();
});
