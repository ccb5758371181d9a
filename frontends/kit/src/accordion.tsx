import type { ReactNode } from 'react';
import { useId } from 'react';

/** One question and its answer. */
export interface AccordionItem {
  title: string;
  content: ReactNode;
}

/**
 * A list of which one item is open at a time; pressing the open one closes it. The browser does all
 * of that, with or without JavaScript.
 */
export function Accordion({ items }: { items: readonly AccordionItem[] }) {
  const group = useId();
  return (
    <div className="border-line border-b">
      {items.map(item => (
        <details key={item.title} name={group} className="border-line border-t">
          <summary className="cursor-pointer py-4 font-semibold">{item.title}</summary>
          <div className="max-w-prose pb-6 text-ink-2">{item.content}</div>
        </details>
      ))}
    </div>
  );
}
