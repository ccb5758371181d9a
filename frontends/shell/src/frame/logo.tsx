import { brand } from '@site/kit/brand.ts';

export function Logo() {
  return (
    <span className="flex items-center gap-2.5 text-subheading tracking-tight">
      <svg viewBox="0 0 26 26" width="26" height="26" aria-hidden="true" fill="none">
        <path d="M2 8V2h6M18 2h6v6M24 18v6h-6M8 24H2v-6" stroke="currentColor" strokeWidth="2.4" />
        <circle cx="13" cy="13" r="4.2" fill="var(--seen)" />
      </svg>
      {brand.name}
    </span>
  );
}
