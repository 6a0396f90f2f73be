import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { runbookUrl } from '../../src/web/page.ts';
import { launchChromium, WIDTHS } from '../support/chromium.ts';
import { atTheEnd } from '../support/cleanup.ts';
import { serveStatus } from '../support/status-server.ts';
import { SCRIPT, STATES, type StateName } from '../support/status-states.ts';
import { areMissing, CHROMIUM } from '../support/tools.ts';

let browser: Browser;
let server: Awaited<ReturnType<typeof serveStatus>>;

/** The page in a state, and what the browser complained of: errors, refusals of the policy, dialogs, lost requests. */
async function open(state: StateName, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: WIDTHS.desktop, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`lost ${request.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:') && request.url() !== url()) complaints.push(`asked for ${request.url()}`);
  });
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    await dialog.dismiss();
  });
  server.show(state);
  await page.goto(url());
  return { page, complaints, close: () => context.close() };
}

function url(): string {
  return `http://127.0.0.1:${server.port}/`;
}

/** What axe finds, the rules beyond WCAG included: rule and first spot. Row 1,000 of a table is like row 20. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate("document.querySelectorAll('tbody tr:nth-child(n + 20)').forEach((row) => row.remove())");
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'], preload: false }),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

describe.skipIf(areMissing(CHROMIUM))('web/status-page', () => {
  beforeAll(async () => {
    server = await serveStatus();
    atTheEnd(() => server.close());
    browser = await launchChromium();
    atTheEnd(() => browser.close());
  });

  // Colours do not change with the width, so each scheme is looked at once.
  describe.each([
    ['phone in the dark', { viewport: WIDTHS.phone, colorScheme: 'dark' }],
    ['desktop by day', { viewport: WIDTHS.desktop, colorScheme: 'light' }],
  ] as const)('on a %s', (_, options) => {
    it.each(STATES)('%s: it fits, and neither the browser nor axe has a complaint', async (state) => {
      const { page, complaints, close } = await open(state, options);
      expect(await overflow(page)).toBe(0);
      expect(await findings(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });
  });

  it.each(Object.entries(WIDTHS))('is a page of named tables to a screen reader, on a %s too', async (_, viewport) => {
    const { page, close } = await open('silent', { viewport });
    for (const landmark of ['banner', 'main'] as const) expect(await page.getByRole(landmark).count()).toBe(1);
    for (const name of ['Elsewhere', 'On this page']) {
      expect(await page.getByRole('navigation', { name }).count()).toBe(1);
    }
    const machines = page.getByRole('region', { name: 'Machines' }).getByRole('table', { name: 'Machines' });
    const heads = await machines.getByRole('columnheader').allInnerTexts();
    expect(heads).toEqual(['Machine', 'State', 'Chain', 'Processes', 'Synced', 'Memory used', 'Disk used']);
    const names = await machines.getByRole('rowheader').allInnerTexts();
    expect(names.slice(0, 2)).toEqual(['quiet-1', 'never-1']);
    await close();
  });

  it('is read and left by keyboard: past the links, into the content, to what to do, to the tables', async () => {
    const { page, close } = await open('silent');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    const seen: unknown[] = [];
    for (let i = 0; i < 5; i += 1) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate('document.activeElement.getAttribute("href")'));
    }
    expect(seen).toEqual([
      runbookUrl('BeaconchainMachineOffline'),
      runbookUrl('BeaconchainWatchedValidatorSlashed'),
      runbookUrl('BeaconchainMachineNeverSeen'),
      '?refresh=30',
      '#t0',
    ]);
    await close();
  });

  it('shows a machine called <script> as what it is called', async () => {
    const { page, close } = await open('hostile');
    expect(await page.getByRole('rowheader', { name: SCRIPT, exact: true }).count()).toBe(1);
    expect(await page.locator('script, img').count()).toBe(0);
    await close();
  });

  it('is one that a policy would stop: what is put in runs nothing and looks like nothing', async () => {
    const { page, complaints, close } = await open('healthy');
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<p style="color:red">a</p><img src="http://127.0.0.1:1/a">')`,
    );
    const refused = (what: RegExp) =>
      complaints.some((text) => /Content Security Policy/.test(text) && what.test(text));
    for (const what of [/inline style/, /image/]) await expect.poll(() => refused(what)).toBe(true);
    await close();
  });
});
