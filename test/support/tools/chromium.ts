import { type Browser, chromium } from 'playwright-core';
import { CHROMIUM } from './tools.ts';

/** Widths of a phone and of a desktop screen, pixels. */
export const WIDTHS = { phone: { width: 390, height: 844 }, desktop: { width: 1_280, height: 900 } } as const;

export function launchChromium(): Promise<Browser> {
  // Chromium's sandbox needs privileges that a container does not have.
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: CHROMIUM.command, args });
}
