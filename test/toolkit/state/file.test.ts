import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { openFileStore, peek } from '../../../src/toolkit/state/file.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { logLines } from '../../support/log/log-lines.ts';
import { NOW } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

const VERSION = 3;
const Value = z.object({ count: z.number(), names: z.array(z.string()) });
const VALUE = { count: 7, names: ['a', '__proto__', '\u{1f980}\n"'] };

async function open(dir: string) {
  const { log, lines } = logLines();
  const documents = await openFileStore(dir, new VirtualClock(NOW), log, { version: VERSION });
  onTestFinished(() => documents.close());
  return { documents, lines };
}

it('loads what was saved, also in a later process', async () => {
  const dir = join(temporaryFolder(), 'made', 'on the way');
  const first = await open(dir);
  await first.documents.save('machines', VALUE);
  expect(await first.documents.load('machines', Value)).toEqual(VALUE);
  await first.documents.close();
  const { documents, lines } = await open(dir);
  expect(await documents.load('machines', Value)).toEqual(VALUE);
  expect(lines).toEqual([]);
});

it('keeps the later of two saves, even if the first takes longer', async () => {
  const { documents } = await open(temporaryFolder());
  await Promise.all([documents.save('ledger', 'long '.repeat(4_000_000)), documents.save('ledger', 'short')]);
  expect(await documents.load('ledger', z.string())).toBe('short');
});

it.each([
  ['empty', '', 'not JSON'],
  ['cut off', '{"version":3,"value":{"count":7,"na', 'not JSON'],
  ['without a number as version', '{"version":"2","value":{}}', 'not a document of the exporter'],
  ['no document', '[]', 'not a document of the exporter'],
  ['of another shape', '{"version":3,"value":{"count":"7","names":[]}}', 'unexpected count'],
])('moves a file that is %s aside with a warning', async (_name, text, why) => {
  const dir = temporaryFolder();
  const { documents, lines } = await open(dir);
  writeFileSync(join(dir, 'machines.json'), text);
  expect(await documents.load('machines', Value)).toBeUndefined();
  const aside = `${join(dir, 'machines.json')}.unreadable-${NOW}`;
  expect(readFileSync(aside, 'utf8')).toBe(text);
  expect(lines).toEqual([expect.objectContaining({ level: 'warn', document: 'machines', why, moved_to: aside })]);
  await documents.save('machines', VALUE);
  expect(await documents.load('machines', Value)).toEqual(VALUE);
});

it.each([
  ['an older version', VERSION - 1, '{"version":2,"value":{"count":7,"names":[]}}'],
  ['a newer version', VERSION + 1, '{"version":4,"value":{"count":7,"names":[]}}'],
])('leaves a file of %s unchanged, and says how to begin without it', async (age, version, text) => {
  const dir = temporaryFolder();
  const { documents, lines } = await open(dir);
  const file = join(dir, 'machines.json');
  writeFileSync(file, text);
  const refusal =
    `${file} was written by ${age.startsWith('an older') ? 'an older' : 'a newer'} version of the exporter ` +
    `(format ${version}, this version has ${VERSION}). It was not changed. ` +
    `Start the version that wrote it, or begin without this state: mv ${dir} ${dir}.old`;
  await expect(documents.load('machines', Value)).rejects.toThrow(refusal);
  await expect(peek(dir, VERSION, 'machines', Value)).rejects.toThrow(refusal);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(readdirSync(dir).toSorted()).toEqual(['lock', 'lock.holder', 'machines.json']);
  expect(lines).toEqual([]);
});

it('makes files and directory readable to its own user only', async () => {
  const dir = join(temporaryFolder(), 'made', 'on the way');
  const before = process.umask(0o022);
  onTestFinished(() => void process.umask(before));
  const { documents } = await open(dir);
  await documents.save('machines', VALUE);
  await documents.save('machines', VALUE);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  expect(statSync(join(dir, 'machines.json')).mode & 0o777).toBe(0o600);
});
