import { describe, expect, it } from 'vitest';
import { type Status, statusPage } from '../../src/http/status-page.ts';
import { DAY, HOUR, MINUTE, NOW } from '../support/timing.ts';

function status(overrides: Partial<Status> = {}): Status {
  return {
    now: NOW,
    version: '1.2.3',
    telemetryPath: '/metrics',
    sources: [],
    budget: [],
    machines: [],
    slashings: [],
    ...overrides,
  };
}

function source(overrides: Partial<Status['sources'][number]> = {}): Status['sources'][number] {
  return {
    name: 'slashings',
    chain: 'hoodi',
    up: true,
    lastSuccessAt: NOW - 30_000,
    nextAttemptAt: NOW + 30_000,
    intervalMs: MINUTE,
    error: undefined,
    ...overrides,
  };
}

describe('http/status-page', () => {
  it('shows what the API calls <script> as text, wherever it comes from', () => {
    const evil = '<script>alert(1)</script>"\'';
    const page = statusPage(
      status({
        version: evil,
        telemetryPath: evil,
        sources: [source({ error: evil, chain: evil })],
        budget: [{ bucket: evil, window: evil, limit: 1, left: evil }],
        machines: [{ name: evil, chain: evil, lastSeenAt: NOW }],
        slashings: [{ chain: evil, count: 1, lastAt: NOW }],
      }),
    );
    expect(page).not.toContain('<script');
    expect(page.split('&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;')).toHaveLength(11);
  });

  it('needs no asset from elsewhere', () => {
    const page = statusPage(status({ sources: [source()] }));
    expect(page).not.toMatch(/(src|href)="(?!\/metrics")/);
    expect(page).not.toMatch(/url\(|@import/);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
  });

  it('links to the metrics', () => {
    expect(statusPage(status({ telemetryPath: '/node/metrics' }))).toContain('<a href="/node/metrics">Metrics</a>');
  });

  it('tells of each source whether it works, when it was and will be read, and why not', () => {
    const page = statusPage(
      status({ sources: [source(), source({ up: false, lastSuccessAt: undefined, error: 'timeout' })] }),
    );
    expect(page).toContain('<td>slashings</td><td>hoodi</td><td>up</td>');
    expect(page).toContain(
      '<td>30 s ago (2026-09-30 12:00:30 UTC)</td><td>in 30 s (2026-09-30 12:01:30 UTC)</td><td>60 s</td>',
    );
    expect(page).toContain('<td>down</td><td>never</td>');
    expect(page).toContain('<td>timeout</td>');
  });

  it.each([
    [NOW, '0 s ago (2026-09-30 12:01:00 UTC)'],
    [NOW - 119_000, '119 s ago (2026-09-30 11:59:01 UTC)'],
    [NOW - 119 * MINUTE, '119 min ago (2026-09-30 10:02:00 UTC)'],
    [NOW + 47 * HOUR, 'in 47 h (2026-10-02 11:01:00 UTC)'],
    [NOW - 31 * DAY, '31 d ago (2026-08-30 12:01:00 UTC)'],
    [Number.POSITIVE_INFINITY, 'not without the operator'],
    [undefined, 'never'],
  ])('writes the time %d as "%s"', (at, text) => {
    expect(statusPage(status({ machines: [{ name: 'node-a', chain: '', lastSeenAt: at }] }))).toContain(
      `<td>${text}</td>`,
    );
  });

  it('survives a time that no calendar has', () => {
    expect(() => statusPage(status({ slashings: [{ chain: 'mainnet', count: 1, lastAt: 1e300 }] }))).not.toThrow();
  });
});
