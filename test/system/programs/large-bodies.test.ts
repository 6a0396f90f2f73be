import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ask, scrape } from '../../support/ask.ts';
import { announced, SHAPES } from '../../support/body-shapes.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import { portOf, type Running, startServe, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { rootOf, slashing } from '../../support/slot-rows.ts';

const KEY = 'a-key-that-nobody-may-see';
const MIB = 1024 * 1024;

/** A service whose answers have this shape, but for slot rows: they announce slashings. */
function hostile(shape: (bytes: number) => string) {
  const [small, large] = [shape(MIB), shape(4 * MIB)];
  const headers = { 'x-ratelimit-limit-second': '5' };
  return startService(KEY, {
    request({ path }) {
      if (path.includes('attesterslashings')) return { status: 200, headers, body: large };
      return { status: 200, headers, body: path.includes('/slots') ? announced(path, 2) : small };
    },
  });
}

function peakMiB({ child }: Running): number {
  const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

async function longestProbe(port: number, until: () => Promise<void>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const probing = (async () => {
    while (!isOver) {
      const start = performance.now();
      await ask(port, '/-/healthy');
      longest = Math.max(longest, performance.now() - start);
    }
  })();
  try {
    await until();
  } finally {
    isOver = true;
    await probing;
  }
  return longest;
}

function config(url: string): string {
  return `api: {base_url: "${url}", timeout: 30s}\nchains: {mainnet: {v1_base_url: "${url}"}}\nbudget: {plan: scale}\n`;
}

/** Times are measured by `npm run bench`. Here the machine may be busy, and what must not come back took 15 s. */
const MAX_PROBE_MS = 5_000;

describe('system/programs/large-bodies', () => {
  it.each(Object.keys(SHAPES))('stays answerable and small while answers at the limit are %s', async (name) => {
    const api = await hostile(SHAPES[name] ?? String);
    const program = startServe(config(api.url), KEY);
    const port = await portOf(program);
    const before = peakMiB(program);
    const longest = await longestProbe(port, async () => {
      await waitFor(async () => {
        const text = await scrape(port);
        for (const endpoint of ['machine_metrics', 'attester_slashings']) {
          expect(seriesValue(text, 'beaconchain_api_requests_total', { endpoint }), endpoint).toBeGreaterThan(0);
        }
        expect(seriesValue(text, 'beaconchain_source_attempts_total', { source: 'slashings' })).toBeGreaterThan(0);
      }, 60_000);
    });
    expect(longest).toBeLessThan(MAX_PROBE_MS);
    expect(peakMiB(program) - before).toBeLessThan(300);
    expect((await program.stop()).code).toBe(0);
  });

  it('counts a slashing of all validators that a slot can have', async () => {
    const validators = Array.from({ length: 131_072 }, (_, i) => i);
    const api = await startService(KEY, {
      request({ path }) {
        const [, slot] = /slot\/(\d+)\/attesterslashings/.exec(path) ?? [];
        if (slot === undefined) return path.includes('/slots') ? { status: 200, body: announced(path, 1) } : undefined;
        const record = slashing(Number(slot), validators, { block_root: rootOf(Number(slot)) });
        return { status: 200, body: JSON.stringify({ status: 'OK', data: [record] }) };
      },
    });
    const program = startServe(config(api.url), KEY);
    const port = await portOf(program);
    const longest = await longestProbe(port, async () => {
      await waitFor(async () => {
        const name = 'beaconchain_attester_slashed_validators_total';
        expect(seriesValue(await scrape(port), name, { chain: 'mainnet' })).toBe(131_072);
      }, 60_000);
    });
    expect(longest).toBeLessThan(MAX_PROBE_MS);
  });
});
