import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { encodeHead, encodeSamples, type Format } from '../../../src/toolkit/exposition/encode.ts';
import { type Family, lazyFamily, type Sample } from '../../../src/toolkit/exposition/family.ts';
import { NOTHING, Rendering } from '../../../src/toolkit/exposition/rendered.ts';

function family(name: string, count: number): Family {
  const samples = Array.from({ length: count }, (_, i) => ({ labels: { machine: `ä机\u{1f980}${i}` }, value: i }));
  return { name, type: 'gauge', help: 'Help.', samples };
}

const FEW = family('few', 3);
const MANY = family('many', 5_000);

async function render(families: readonly Family[], before = NOTHING) {
  const compressed: Buffer[] = [];
  const rendering = new Rendering(before);
  for (const one of families) await rendering.add(one);
  const rendered = await rendering.finish(async (plain) => {
    compressed.push(plain);
    return gzipSync(plain);
  });
  return { rendered, compressed };
}

describe('metrics/rendered', () => {
  it('keeps the lines of a large family once for both formats', async () => {
    const { rendered, compressed } = await render([FEW, MANY, FEW]);
    const [, lines] = rendered.text.plain;
    expect(rendered.openmetrics.plain[1]).toBe(lines);
    expect(compressed.filter((block) => block === lines)).toHaveLength(1);
  });

  it.each([[[FEW]], [[MANY]], [[FEW, MANY, MANY, FEW]]])(
    'has all lines, plain and compressed, also after a larger or smaller rendering',
    async (families) => {
      const { rendered: before } = await render([MANY, FEW, FEW]);
      for (const { rendered } of [await render(families), await render(families, before)]) {
        for (const [format, { plain, gzipped }] of Object.entries(rendered)) {
          const linesOf = (one: Family) => [encodeHead(one, format as Format), ...encodeSamples(one)];
          expect(Buffer.concat(plain).toString()).toBe(families.flatMap(linesOf).join(''));
          expect(gunzipSync(Buffer.concat(gzipped)).equals(Buffer.concat(plain))).toBe(true);
          expect(gzipped).toHaveLength(1);
        }
      }
    },
  );

  it('pauses between the pieces of a large family', async () => {
    const pause = vi.fn(async () => undefined);
    await new Rendering(NOTHING, pause).add(MANY);
    expect(pause.mock.calls.length).toBeGreaterThanOrEqual(10);
  });

  it('computes the samples of a family once', async () => {
    const read = vi.fn((): Sample[] => [...MANY.samples]);
    await new Rendering(NOTHING).add(lazyFamily(MANY, read));
    expect(read).toHaveBeenCalledTimes(1);
  });
});
