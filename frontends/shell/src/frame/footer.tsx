import { brand } from '@site/kit/brand.ts';
import { socials } from '@site/kit/brand-lists.ts';
import * as paths from '@site/kit/paths.ts';
import { Link } from '@site/kit/router.ts';
import { Tooltip } from '@site/kit/tooltip.tsx';
import { useHydrated } from '@site/kit/use-hydrated.ts';
import { services } from '../content/services.ts';
import { Icon, isIconName } from './icon.tsx';
import { Logo } from './logo.tsx';

const QUICK_LINKS = [
  { title: 'Home', path: paths.home },
  { title: 'About', path: paths.about },
  { title: 'Services', path: paths.services },
  { title: 'Solutions', path: paths.solutions },
  { title: 'Blog', path: paths.blog },
  { title: 'Contact', path: paths.contact },
];

const SERVICES = [
  'retail-wholesale-high-risk',
  'banks-atms-financial',
  'industry-smart-factories',
  'smart-cities-infrastructure',
];

/** Shows only on pages that contain a `FooterMarker`. */
export function Footer() {
  const ours = services.filter(({ id }) => SERVICES.includes(id));
  return (
    <footer className="site-footer border-line border-t bg-sunk">
      <div className="mx-auto grid max-w-page gap-10 px-5 py-16 sm:grid-cols-2 md:px-8 lg:grid-cols-footer">
        <div>
          <Logo />
          <p className="mt-4 max-w-text text-ink-2 text-small">{brand.blurb}</p>
          <SocialLinks />
        </div>
        <Links title="Quick Links" links={QUICK_LINKS} />
        <Links
          title="Our Services"
          links={ours.map(({ id, menu }) => ({ title: menu, path: paths.service(id) }))}
        />
        <ContactDetails />
      </div>
      <div className="mx-auto flex max-w-page flex-wrap items-center gap-x-8 px-5 pb-8 text-ink-2 text-small md:px-8">
        <p className="mr-auto">
          © <Year /> {brand.name}
        </p>
        <Link to={paths.privacy} className="inline-flex min-h-11 items-center">
          Privacy Policy
        </Link>
        <Link to={paths.terms} className="inline-flex min-h-11 items-center">
          Terms of Service
        </Link>
      </div>
    </footer>
  );
}

function SocialLinks() {
  return (
    <ul className="-ml-2.5 mt-4 flex gap-1">
      {socials.map(social => (
        <li key={social.url}>
          <Tooltip text={social.label}>
            <a
              href={social.url}
              aria-label={social.label}
              target="_blank"
              rel="noopener"
              className="inline-flex size-11 items-center justify-center text-ink-2 hover:text-ink"
            >
              <Icon name={isIconName(social.kind) ? social.kind : 'network'} className="size-5" />
            </a>
          </Tooltip>
        </li>
      ))}
    </ul>
  );
}

function ContactDetails() {
  const { phone, emails, address } = brand;
  return (
    <div>
      <h2 className="font-semibold">Contact</h2>
      <address className="mt-3 text-ink-2 text-small not-italic">
        <a href={`tel:${phone.replaceAll(' ', '')}`} className="flex min-h-11 items-center">
          {phone}
        </a>
        <a href={`mailto:${emails.admin}`} className="flex min-h-11 items-center">
          {emails.admin}
        </a>
        <span className="mt-2 block">
          {[...address.lines, address.city, address.country].join(', ')}
        </span>
      </address>
    </div>
  );
}

/** The prerendered year may be out of date. */
function Year() {
  const isHydrated = useHydrated();
  const year = new Date().getFullYear();
  return <span suppressHydrationWarning={true}>{isHydrated ? year : String(year)}</span>;
}

function Links({ title, links }: { title: string; links: { title: string; path: string }[] }) {
  return (
    <nav aria-label={title}>
      <h2 className="font-semibold">{title}</h2>
      <ul className="mt-3 text-ink-2 text-small">
        {links.map(link => (
          <li key={link.path}>
            <Link to={link.path} className="flex min-h-11 items-center hover:text-ink">
              {link.title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
