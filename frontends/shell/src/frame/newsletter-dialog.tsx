import { Alert } from '@site/kit/alert.tsx';
import { postJson } from '@site/kit/api-client.ts';
import { Button } from '@site/kit/button.tsx';
import { Dialog } from '@site/kit/dialog.tsx';
import { takeFocus } from '@site/kit/focus.ts';
import { useBrowserValue } from '@site/kit/use-hydrated.ts';
import { useSubmission } from '@site/kit/use-submission.ts';
import { useState } from 'react';
import type { NewsletterAction } from '../content/newsletter-prompts.ts';
import { isNewsletterAction, newsletterPrompts } from '../content/newsletter-prompts.ts';

const FAILED = 'This did not work. Try again in a moment.';
const FAILURE_MESSAGES = { refused: FAILED, unreachable: FAILED };

/** Asks first, because mail scanners follow links and must not change anything. */
export function NewsletterDialog() {
  const [isClosed, setIsClosed] = useState(false);
  const search = new URLSearchParams(useBrowserValue(() => location.search, ''));
  const action = search.get('newsletter');
  const token = search.get('token');
  if (isClosed || !token || !isNewsletterAction(action)) {
    return null;
  }

  // Bypasses the router, which first waits for every lazy part of the page.
  function close() {
    history.replaceState(history.state, '', location.pathname);
    setIsClosed(true);
  }
  return <NewsletterPrompt action={action} token={token} onClose={close} />;
}

interface NewsletterPromptProps {
  action: NewsletterAction;
  token: string;
  onClose: () => void;
}

function NewsletterPrompt({ action, token, onClose }: NewsletterPromptProps) {
  const { state, send } = useSubmission();
  const words = newsletterPrompts[action];

  const answer = () =>
    send(options =>
      postJson(
        `/api/newsletter/${action}`,
        { token },
        { failureMessages: FAILURE_MESSAGES, ...options },
      ),
    );

  return (
    <Dialog title={words.title} state="open" onClose={onClose}>
      <p role="status" className="max-w-text text-ink-2">
        {state.status === 'accepted' ? words.done : words.question}
      </p>
      <div className="mt-6">
        {state.status === 'failed' ? <Alert>{state.message}</Alert> : null}
      </div>
      <div className="flex flex-wrap gap-4">
        {state.status === 'accepted' ? (
          <Button ref={takeFocus} onClick={onClose}>
            Close
          </Button>
        ) : (
          <Button onClick={answer} disabled={state.status === 'submitting'}>
            {state.status === 'submitting' ? 'Sending...' : words.button}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
