import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyLedger, Ledger } from '../../src/budget/ledger.ts';
import { systemClock } from '../../src/toolkit/lib/clock.ts';
import { StateOfOtherVersion, wrap } from '../../src/toolkit/state/envelope.ts';
import { openFileStore } from '../../src/toolkit/state/file.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { logLines } from '../support/log/log-lines.ts';
import { cases, PATIENT } from '../support/vitest/fuzz.ts';
import { spoil } from './odd.ts';

const VERSION = 3;
const value = fc.anything({ values: [fc.string(), fc.double(), fc.constantFrom(null, undefined, true)], maxDepth: 4 });

describe('fuzz state', PATIENT, () => {
  it('the pieces of a document are its JSON, and a large document has several', () => {
    fc.assert(
      fc.property(value, fc.nat(200), (one, times) => {
        for (const document of [one, { one, list: Array.from({ length: times }, () => one) }]) {
          expect([...wrap(VERSION, document)].join('')).toBe(JSON.stringify({ version: VERSION, value: document }));
        }
      }),
      cases(300),
    );
    const large = { machines: Array.from({ length: 1_000 }, (_, i) => `${i} ${'\u{1f980}'.repeat(500)}`) };
    expect([...wrap(VERSION, large)].length).toBeGreaterThan(4);
  });

  it('any file is read or moved aside, except one of another version, which is refused and stays', async () => {
    const dir = temporaryFolder();
    const file = join(dir, 'document.json');
    const documents = await openFileStore(dir, systemClock, logLines().log, { version: VERSION });
    await fc.assert(
      fc.asyncProperty(spoil, async (spoilt) => {
        const text = spoilt({ version: VERSION, value: emptyLedger() });
        await writeFile(file, text);
        const read = await documents.load('document', Ledger).catch(async (error: unknown) => {
          expect(error).toBeInstanceOf(StateOfOtherVersion);
          expect(JSON.parse(text).version).not.toBe(VERSION);
          expect(JSON.parse(text).version).toBeGreaterThanOrEqual(1);
          expect(await readFile(file, 'utf8')).toBe(text);
          await rm(file);
          return undefined;
        });
        if (read === undefined) expect(await documents.load('document', Ledger)).toBeUndefined();
      }),
      cases(100),
    );
    await documents.close();
  });
});
