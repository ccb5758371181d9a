import type { Page } from '@playwright/test';
import { newsletterLink } from '../../../kit/testing/inbox.ts';
import {
  expect,
  expectAccessible,
  expectFits,
  test,
  uniqueEmail,
} from '../../../kit/testing/playwright-fixtures.ts';
import { SAMPLE_PATHS, SAMPLES } from '../../../kit/testing/sample-paths.ts';
import { HEADINGS } from '../headings.ts';

// The browser itself submits these forms.

const SALES = 'sales@oculant.example';
/** Endpoints, and the page that each returns for invalid input. */
const REFUSING = [
  ['/api/contact', SAMPLES.messageNotSent],
  ['/api/newsletter', SAMPLES.notSubscribed],
  ['/api/newsletter/confirm?newsletter=confirm&token=forged', SAMPLES.notAnswered],
  ['/api/career-application', SAMPLES.notApplied],
] as const;

test.describe('with scripts', () => {
  // axe needs scripts.
  for (const [address, path] of REFUSING) {
    test(`${path} with every error passes axe and fits 320 pixels`, async ({
      page,
      consoleMessages,
    }) => {
      await page.goto('/terms');
      await page.evaluate(sendEmptyForm, address);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(HEADINGS[path]);
      expect(await page.content()).not.toContain('{{');
      // Refused pages do not start the application, so the theme switch would do nothing.
      await expect(page.locator('button[aria-label="Dark theme"]')).toBeHidden();
      await expectAccessible(page);
      await expectFits(page, 320, 640);
      expect(consoleMessages.splice(0)).toEqual([expect.stringContaining('422')]);
    });
  }
});

/** Sends an empty form. In our own forms, native validation prevents this. */
function sendEmptyForm(address: string) {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = address;
  form.enctype = address.includes('career') ? 'multipart/form-data' : form.enctype;
  for (const [name, value] of [
    ['name', ''],
    ['answer', 'yes'],
  ]) {
    form.append(Object.assign(document.createElement('input'), { name, value }));
  }
  document.body.append(form);
  form.submit();
}

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false, contextOptions: { reducedMotion: 'no-preference' } });

  test('no control is without effect, and nothing waits for scripts', async ({ page }) => {
    for (const route of SAMPLE_PATHS) {
      await page.goto(route);
      const dead = page.locator('button:not([type=submit], [popovertarget])');
      await expect(dead.filter({ visible: true }), route).toHaveCount(0);
      const pulsing = await page
        .locator('[data-awaited=true]')
        .evaluateAll(all => all.map(element => getComputedStyle(element).animationName));
      expect(new Set(pulsing), route).not.toContain('pulse');
    }
    await page.goto('/?variant=impact');
    await expect(page.locator('video[controls]')).toBeVisible();
    await page.emulateMedia({ media: 'print' });
    await page.goto('/solutions');
    await expect(page.locator('[data-state=waiting]').first()).toBeVisible();
  });

  test('a message submitted twice is sent once', {
    tag: '@hosting',
  }, async ({ page, mailTo, mailsTo }) => {
    const email = uniqueEmail('asha');
    for (const _ of ['once', 'again']) {
      await page.goto('/contact?utm_source=newspaper');
      await write(page, {
        'Full Name': 'Asha Rao',
        'Email Address': email,
        'Your Message': 'Hello',
      });
      await page.getByRole('button', { name: 'Send Message' }).click();
      await expect(page).toHaveURL('/contact/sent');
      await expect(page.getByRole('heading', { level: 1 })).toHaveText(
        'Message Sent Successfully!',
      );
    }
    const lead = await mailTo(SALES, email);
    expect(lead.text).toMatch(/Page: +\/contact\nCampaign: +newspaper/);
    await mailTo(email, 'Asha');
    expect(await mailsTo(SALES, email)).toHaveLength(1);
  });

  test('a refused message keeps its input and can be corrected', {
    tag: '@hosting',
  }, async ({ page, mailTo, consoleMessages }) => {
    const email = uniqueEmail('asha');
    const message = '"><script>alert(1)</script>\n🎥 &quot; “How soon?”';
    await page.goto('/contact');
    await write(page, { 'Full Name': '  ', 'Email Address': email, 'Your Message': message });
    await page.getByRole('button', { name: 'Send Message' }).click();

    await expect(page).toHaveTitle('Not sent yet | Oculant');
    await expect(page.getByRole('alert')).toHaveText('Please check the marked fields.');
    const name = page.getByLabel('Full Name');
    await expect(name).toHaveAttribute('aria-invalid', 'true');
    await expect(name).toHaveAccessibleDescription(/name/i);
    await expect(page.getByLabel('Email Address')).toHaveValue(email);
    await expect(page.getByLabel('Email Address')).toHaveAttribute('aria-invalid', 'false');
    await expect(page.getByLabel('Your Message')).toHaveValue(message);
    expect(consoleMessages.splice(0)).toEqual([expect.stringContaining('422')]);

    await write(page, { 'Full Name': 'Asha Rao' });
    await page.getByRole('button', { name: 'Send Message' }).click();
    await expect(page).toHaveURL('/contact/sent');
    const lead = await mailTo(SALES, email);
    expect(lead.text).toContain('“How soon?”');
  });

  test('a sign-up is accepted after correcting its address', {
    tag: '@hosting',
  }, async ({ page, mailTo, consoleMessages }) => {
    const email = uniqueEmail('reader');
    await page.goto('/blog');
    const form = page.locator('form[action="/api/newsletter"]').first();
    // Native validation would stop this form.
    await form.evaluate((element: HTMLFormElement) => element.setAttribute('novalidate', ''));
    await form.getByLabel('Email Address').fill('reader@');
    await form.getByRole('button', { name: 'Subscribe' }).click();
    await expect(page).toHaveTitle('Not subscribed yet | Oculant');
    await expect(page.getByLabel('Email Address')).toHaveValue('reader@');
    await expect(page.getByLabel('Email Address')).toHaveAccessibleDescription(/address/i);
    expect(consoleMessages.splice(0)).toEqual([expect.stringContaining('422')]);

    await write(page, { 'Email Address': email });
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await expect(page).toHaveURL('/newsletter/subscribed');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Thank you for subscribing!');
    await mailTo(email, 'newsletter=confirm');
  });

  test('mail links confirm and unsubscribe; a forged one changes nothing', {
    tag: '@hosting',
  }, async ({ page, mailTo, stack, consoleMessages }) => {
    const email = uniqueEmail('reader');
    await page.goto('/blog');
    await page.getByLabel('Email Address').first().fill(email);
    await page.getByRole('button', { name: 'Subscribe' }).first().click();
    const confirmation = await mailTo(email, 'newsletter=confirm');
    await page.goto(newsletterLink(confirmation, 'confirm', stack.site));
    // The question replaces the page.
    await expect(page).toHaveTitle('Confirm your subscription | Oculant');
    await expect(page.locator('#root')).toBeHidden();
    await page.keyboard.press('Tab');
    await expect(page.getByRole('button', { name: 'Confirm' })).toBeFocused();
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expect(page).toHaveURL('/newsletter/confirmed');

    const welcome = await mailTo(email, 'newsletter=unsubscribe');
    const wayOut = newsletterLink(welcome, 'unsubscribe', stack.site);
    await page.goto(wayOut);
    await page.getByRole('link', { name: 'Not now' }).click();
    await expect(page).toHaveURL('/');
    await page.goto(wayOut);
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    await expect(page).toHaveURL('/newsletter/unsubscribed');
    await mailTo(email, 'last mail of the newsletter');

    await page.goto('/?newsletter=confirm&token=forged');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await expect(page).toHaveTitle('Nothing has changed yet | Oculant');
    await expect(page.getByRole('alert')).toHaveText(/link/i);
    expect(consoleMessages.splice(0)).toEqual([expect.stringMatching(/ 4\d\d /)]);
  });

  test('a refused application keeps its input but not its file', {
    tag: '@hosting',
  }, async ({ page, mailTo, consoleMessages }) => {
    const email = uniqueEmail('ravi');
    const name = 'Ravi Kumar – résumé.pdf';
    await page.goto('/careers');
    await expect(page.getByRole('link', { name: 'Apply Now' }).first()).toHaveAttribute(
      'href',
      '/careers/apply',
    );
    await page.getByRole('heading', { name: 'Computer Vision Intern' }).click();
    await page.getByRole('link', { name: /^Apply for this position.*: Computer Vision/ }).click();
    await expect(page).toHaveURL('/careers/computer-vision-intern#apply');
    await expect(page.getByLabel('Position', { exact: true })).toHaveValue(
      'Computer Vision Intern',
    );
    await write(page, {
      'Full Name': 'Ravi Kumar',
      Email: email,
      'Cover Letter': '\nI count people\nfor fun & “more”.',
    });
    await page.getByLabel('Resume/CV').setInputFiles({ name, ...pdf('MZ') });
    await page.getByRole('button', { name: 'Submit Application' }).click();

    await expect(page).toHaveTitle('Not submitted yet | Oculant');
    await expect(page.getByLabel('Resume/CV')).toHaveAccessibleDescription(/PDF, DOC or DOCX/);
    await expect(page.getByLabel('Resume/CV')).toHaveValue('');
    await expect(page.getByText('Choose your résumé again')).toBeVisible();
    await expect(page.getByLabel('Cover Letter')).toHaveValue(
      '\nI count people\nfor fun & “more”.',
    );
    await expect(page.getByLabel('Position', { exact: true })).toHaveValue(
      'Computer Vision Intern',
    );
    expect(consoleMessages.splice(0)).toEqual([expect.stringContaining('422')]);

    await page
      .getByLabel('Resume/CV')
      .setInputFiles({ name, ...pdf('%PDF-1.7\nstartxref\n0\n%%EOF\n') });
    await page.getByRole('button', { name: 'Submit Application' }).click();
    await expect(page).toHaveURL('/careers/applied');
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Application Submitted!');
    const mail = await mailTo('recruiters@oculant.example', email);
    expect(mail.text).toContain('résumé.pdf');
    expect(mail.text).toContain('for fun & “more”.');
  });
});

function pdf(content: string) {
  return { mimeType: 'application/pdf', buffer: Buffer.from(content) };
}

async function write(page: Page, texts: Readonly<Record<string, string>>) {
  for (const [label, text] of Object.entries(texts)) {
    await page.getByLabel(label).fill(text);
  }
}
