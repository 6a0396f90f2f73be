import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PageLog, readPages } from '../../src/backfill/page-log.ts';
import { temporaryFolder } from '../support/files.ts';

async function pagesOf(file: string): Promise<unknown[]> {
  const pages: unknown[] = [];
  for await (const page of readPages(file)) pages.push(page);
  return pages;
}

const page = (next: string | null, records: readonly unknown[] = []) => ({ next, bad: 0, records });

describe('backfill/page-log', () => {
  it('goes on behind the last page that was kept whole, wherever a write was cut off', async () => {
    const whole = `${JSON.stringify(page('two', [1]))}\n${JSON.stringify(page('three', ['é'.repeat(100_000)]))}\n`;
    const torn = JSON.stringify(page(null, ['ü'.repeat(40_000)]));
    const bytes = Buffer.from(torn);
    for (const length of [0, 1, 10, bytes.length - 1, bytes.length]) {
      const file = join(temporaryFolder(), 'log');
      appendFileSync(file, whole);
      appendFileSync(file, bytes.subarray(0, length));
      const log = await PageLog.open(file);
      expect({ next: log.next, isDone: log.isDone }).toEqual({ next: 'three', isDone: false });
      await log.append(page(null, [3]));
      await log.close();
      expect(await pagesOf(file)).toEqual([
        ...whole
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
        page(null, [3]),
      ]);
    }
  });

  it('begins anew where not even one page is whole', async () => {
    const file = join(temporaryFolder(), 'log');
    appendFileSync(file, '{"next":"tw');
    const log = await PageLog.open(file);
    expect({ next: log.next, isEmpty: log.isEmpty, isDone: log.isDone }).toEqual({
      next: undefined,
      isEmpty: true,
      isDone: false,
    });
    await log.close();
    expect(readFileSync(file, 'utf8')).toBe('');
  });

  it('is done with a page that leads nowhere', async () => {
    const file = join(temporaryFolder(), 'log');
    const log = await PageLog.open(file);
    await log.append(page('two'));
    await log.append(page(null));
    await log.close();
    const again = await PageLog.open(file);
    expect(again.isDone).toBe(true);
    await again.close();
  });
});
