import type { ReactNode } from 'react';
import { useId } from 'react';

interface AccordionItem {
  title: string;
  content: ReactNode;
}

/** List with at most one open item. The shared `name` makes browsers enforce this without JavaScript. */
export function Accordion({ items }: { items: readonly AccordionItem[] }) {
  const group = useId();
  return (
    <div className="border-line border-b">
      {items.map(item => (
        <details key={item.title} name={group} className="group border-line border-t">
          <summary className="flex cursor-pointer list-none items-center justify-between gap-4 py-4 font-semibold after:font-normal after:text-heading after:text-ink-2 after:leading-none after:content-['+'_/_''] group-open:after:content-['−'_/_''] [&::-webkit-details-marker]:hidden">
            {item.title}
          </summary>
          <div className="max-w-text pb-6 text-ink-2">{item.content}</div>
        </details>
      ))}
    </div>
  );
}
