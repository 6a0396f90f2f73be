import { type Browser, chromium } from 'playwright-core';

/** The distribution's own: nothing is downloaded. */
export const CHROMIUM = '/usr/bin/chromium';

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-background-networking', '--disable-dev-shm-usage'],
  });
}

export const WIDTHS = { phone: { width: 390, height: 844 }, desktop: { width: 1_280, height: 900 } } as const;
