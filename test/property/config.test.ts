import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { schedulesOf } from '../../src/scheduler/schedules.ts';
import { NO_INPUTS } from '../../src/sources/read.ts';
import { type LoadedConfig, sourcesOf } from '../../src/sources/registry.ts';
import { ConfigError } from '../../src/toolkit/yaml/mistakes.ts';
import { withConfig } from '../config/with-config.ts';
import { known as attempted } from '../support/runs/known.ts';
import { budgetOf } from '../support/runs/round.ts';
import { NOW } from '../support/time/timing.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { mutated, mutations } from './odd.ts';

const KEY = 'S3cr3t-K3y';
const EXAMPLE = readFileSync(join(import.meta.dirname, '../../config.example.yaml'), 'utf8').replace(/\$\{\w+\}/g, KEY);

/** The config. Undefined if it was refused line by line, without the key. */
async function load(text: string, mayQuote = false): Promise<LoadedConfig['config'] | undefined> {
  try {
    return (await withConfig(text)).config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const line of error.message.split('\n')) expect(line).toMatch(/^config\.yaml(:\d+)?: ./);
    if (!mayQuote) expect(error.message).not.toContain(KEY);
    return undefined;
  }
}

/** Fails if an accepted config cannot be planned and shown. */
function expectUsable(config: LoadedConfig['config'], allowedPerDay: number): void {
  const known = sourcesOf(config).map((source) => attempted(source, { lastAttemptAt: NOW, durationMs: 1 }));
  for (const [source, { reads }] of schedulesOf(known, budgetOf(allowedPerDay), { now: NOW, held: NOW })) {
    for (const { read, pace, timing, nextAttemptAt } of reads) {
      expect(pace.intervalMs, read.name).toBeGreaterThanOrEqual(read.everyMs);
      expect(Number.isFinite(pace.intervalMs) && pace.requestsPerDay >= 0, read.name).toBe(true);
      for (const { samples } of source.metrics(source.empty, timing, NO_INPUTS)) {
        for (const { value } of samples) expect(Number.isFinite(value)).toBe(true);
      }
      // A page shows it as a date, unless nothing is left to read.
      if (nextAttemptAt < Infinity) expect(() => new Date(nextAttemptAt).toISOString()).not.toThrow();
    }
  }
}

const budget = fc.oneof(
  fc.constantFrom(0, 1, 30, Number.POSITIVE_INFINITY),
  fc.double({ min: 0, max: 1e6, noNaN: true }),
);

describe('fuzz config', PATIENT, () => {
  it('plans the example with any change in it, or refuses it line by line', async () => {
    await fc.assert(
      fc.asyncProperty(mutations(), budget, async (changes, allowedPerDay) => {
        const isCopied = changes.some((change) => change.do === 'copy');
        const config = await load(JSON.stringify(mutated(parse(EXAMPLE), changes)), isCopied);
        if (config) expectUsable(config, allowedPerDay);
      }),
      cases(100),
    );
  });

  it('refuses text that is not YAML line by line', async () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(20),
      put: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom(
          ...['&a *a', '*b', '{', '[', '"', "'", ': ', '- ', '\t', '|', '>', '!!map', '? ', '---', '%', '<<: ', '\n'],
        ),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
        const text = edits.reduce((before, { at, cut, put }) => {
          const start = Math.floor(before.length * at);
          return before.slice(0, start) + put + before.slice(start + cut);
        }, EXAMPLE);
        const config = await load(text, true);
        if (config) expectUsable(config, 1_000);
      }),
      cases(60),
    );
  });
});
