import { postJson } from '@site/kit/api-client.ts';
import { Button } from '@site/kit/button.tsx';
import { Dialog } from '@site/kit/dialog.tsx';
import { Alert, takeFocus } from '@site/kit/confirmation.tsx';
import { useHydrated } from '@site/kit/use-hydrated.ts';
import { useSubmission } from '@site/kit/use-submission.ts';
import { useState } from 'react';
import type { NewsletterAction } from '../content/newsletter-questions.ts';
import { isNewsletterAction, questions } from '../content/newsletter-questions.ts';

const FAILED = 'This did not work. Try again in a moment.';
const SENTENCES = { refused: FAILED, unreachable: FAILED };

/**
 * What the links of newsletter mails open. It asks first: a mail scanner that follows links must
 * change nothing.
 */
export function NewsletterLink() {
  const isHydrated = useHydrated();
  const [isClosed, setIsClosed] = useState(false);
  const search = new URLSearchParams(isHydrated ? location.search : '');
  const action = search.get('newsletter');
  const token = search.get('token');
  if (isClosed || !token || !isNewsletterAction(action)) {
    return null;
  }

  // Past the router: it would first wait for every part of the page that is not loaded yet.
  function close() {
    history.replaceState(history.state, '', location.pathname);
    setIsClosed(true);
  }
  return <Question action={action} token={token} onClose={close} />;
}

interface QuestionProps {
  action: NewsletterAction;
  token: string;
  onClose: () => void;
}

function Question({ action, token, onClose }: QuestionProps) {
  const { state, send } = useSubmission();
  const words = questions[action];

  const answer = () =>
    send(watch =>
      postJson(`/api/newsletter/${action}`, { token }, { sentences: SENTENCES, ...watch }),
    );

  return (
    <Dialog title={words.title} state="open" onClose={onClose}>
      <p role="status" className="max-w-text text-ink-2">
        {state.is === 'accepted' ? words.done : words.question}
      </p>
      <div className="mt-6">{state.is === 'failed' ? <Alert>{state.message}</Alert> : null}</div>
      <div className="flex flex-wrap gap-4">
        {state.is === 'accepted' ? (
          <Button ref={takeFocus} onClick={onClose}>
            Close
          </Button>
        ) : (
          <Button onClick={answer} disabled={state.is === 'submitting'}>
            {state.is === 'submitting' ? 'Sending...' : words.button}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
