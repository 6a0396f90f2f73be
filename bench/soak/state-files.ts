import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unwrap } from '../../src/state/envelope.ts';
import { seriesValue } from './scraper.ts';

interface Read {
  readonly name: string;
  readonly value: unknown;
}

/** What is wrong with the files, as a process that starts now would find them. */
export function brokenFiles(dir: string): string[] {
  const names = readdirSync(dir);
  const aside = names.filter((name) => name.includes('unreadable')).map((name) => `${name}: moved aside`);
  const broken = documents(dir, names).flatMap(({ name, value }) => (value === undefined ? [`${name} is broken`] : []));
  return [...aside, ...broken];
}

/** What a crash at this moment leaves; the drafts of writes that were cut off as well. */
export function copyState(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (!name.includes('.json')) continue;
    try {
      copyFileSync(join(from, name), join(to, name));
    } catch (error) {
      // A draft that has become a file or was given up.
      if (!name.includes('.tmp-')) throw error;
    }
  }
}

/** Where what is shown is not what stands in the files. */
export function differences(dir: string, text: string): string[] {
  return documents(dir, readdirSync(dir)).flatMap(({ name, value }) => {
    const [, source = '', chain] =
      /^(machines|daily-returns|slashings|sync-committee)(?:-(\w+))?\.json$/.exec(name) ?? [];
    if (source === '') return [];
    const { attempts, failures } = value as { attempts: number; failures: number };
    const labels = chain === undefined ? `source="${source}"` : `source="${source}",chain="${chain}"`;
    return Object.entries({ attempts, failures }).flatMap(([what, count]) => {
      const shown = seriesValue(text, `beaconchain_source_${what}_total{${labels}}`);
      return shown === count ? [] : [`${name} has ${count} ${what}, ${shown} are shown`];
    });
  });
}

function documents(dir: string, names: readonly string[]): Read[] {
  return names
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const opened = unwrap(readFileSync(join(dir, name), 'utf8'));
      return { name, value: opened.success ? opened.value : undefined };
    });
}
