import { useSearchParams } from '@site/kit/router.ts';
import { useBrowserValue } from '@site/kit/use-hydrated.ts';
import type { ChangeEvent } from 'react';
import { useEffect, useRef, useState } from 'react';

export const QUERY = 'q';
/** Debounce for the URL: browsers limit how often it may change. */
const PAUSE_MS = 200;

/**
 * `words` come from the URL, which follows the field's `text` after `PAUSE_MS`. The search also uses text
 * typed before hydration.
 */
export function useSearchQuery() {
  const field = useRef<HTMLInputElement>(null);
  const [parameters, setParameters] = useSearchParams();
  const asked = useBrowserValue(() => parameters.get(QUERY) ?? '', '');
  const [typed, setTyped] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, for text typed before hydration
  useEffect(() => {
    const early = field.current?.value;
    if (early && early !== asked) {
      search(early);
    }
    return () => clearTimeout(timer.current);
  }, []);

  function show(text: string) {
    setTyped(undefined);
    setParameters(text.trim() ? { [QUERY]: text } : {}, { replace: true });
  }

  function search(value: string) {
    setTyped(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => show(value), PAUSE_MS);
  }

  const type = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => search(currentTarget.value);
  return { field, words: asked.trim(), text: typed ?? asked, type };
}
