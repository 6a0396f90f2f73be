import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import bcrypt from 'bcryptjs';
import { Child } from '../child.ts';
import type { SoakOptions, Taken } from '../soak-exporter.ts';
import { type Counters, countersOf, Scraper, steppedBack } from './scraper.ts';
import { copyState, differences } from './state-files.ts';
import type { SoakSettings } from './world.ts';

/** A user whose password `crowd-client.ts` knows too. */
export const HEADERS = { authorization: `Basic ${Buffer.from('prometheus:secret').toString('base64')}` };

/** How a failed write is seen: counted at once, whether or not that can be written. */
const WRITE_FAILURES = 'beaconchain_exporter_state_write_failures_total';

/** Longer than usual: the time goes faster, the machine does not. */
const TIMEOUT_MS = 30_000;
const RENDERED_WITHIN_MS = 10_000;

interface Place {
  readonly folder: string;
  readonly speed: number;
  /** Of the clock. */
  readonly start: number;
  readonly key: string;
  readonly everyMs: number;
  /** Where nobody ever answers. */
  readonly silentUrl: string;
}

/** Starts exporters with one configuration, and others that look at what they left. */
export class Exporters {
  readonly #place: Place;
  readonly #webConfigFile: string;
  /** Starts that were looked at. */
  looks = 0;

  constructor(place: Place) {
    this.#place = place;
    this.#webConfigFile = join(place.folder, 'web.yml');
    writeFileSync(this.#webConfigFile, `basic_auth_users: {prometheus: "${bcrypt.hashSync('secret', 10)}"}\n`);
  }

  configure(url: string, settings: SoakSettings = {}, name = 'config.yaml'): string {
    const {
      timeoutMs = Math.ceil(TIMEOUT_MS / this.#place.speed),
      hoodi = true,
      machines,
      more = '',
      mistake,
    } = settings;
    const file = join(this.#place.folder, name);
    const second = hoodi ? `, hoodi: {v1_base_url: "${url}/hoodi"}` : '';
    const text = [
      `api: {base_url: "${url}", timeout: ${timeoutMs}ms}`,
      `chains: {mainnet: {v1_base_url: "${url}"}${second}}`,
      `machines: {chain: mainnet${machines === undefined ? '' : `, ${machines}`}}`,
      mistake ? 'budget: {utilization: all}' : '',
      more,
    ];
    // A reload may be reading it.
    writeFileSync(`${file}.next`, text.join('\n'));
    renameSync(`${file}.next`, file);
    return file;
  }

  start(dir: string, configFile: string): Child<Taken> {
    const { speed, start, everyMs, key } = this.#place;
    const options: SoakOptions = { speed, start, configFile, webConfigFile: this.#webConfigFile, dir, everyMs };
    return new Child<Taken>('soak-exporter.ts', {
      args: [JSON.stringify(options)],
      node: ['--expose-gc'],
      env: { BEACONCHAIN_API_KEY: key },
    });
  }

  /**
   * What is wrong with what a start after a crash at this moment shows: it must be what stands in the files, and lie between
   * what is shown before and after the moment.
   */
  async lookAtCrash(dir: string, scraper: Scraper): Promise<string[]> {
    const copy = mkdtempSync(join(this.#place.folder, 'crash-'));
    await scraper.scrape();
    const before = new Map(scraper.most);
    copyState(dir, copy);
    const found = await this.lookAtStart(copy, before, async () => {
      await scraper.scrape();
      return countersOf(scraper.text);
    });
    rmSync(copy, { recursive: true });
    return found.map((line) => `after a crash: ${line}`);
  }

  /** The same of a start with these files; nothing of it can be newer than `after`, if that is known. */
  async lookAtStart(dir: string, before: Counters, after?: () => Promise<Counters>): Promise<string[]> {
    mkdirSync(dir, { recursive: true });
    const file = this.configure(this.#place.silentUrl, { timeoutMs: 600_000 }, 'silent.yaml');
    const child = this.start(dir, file);
    await child.message();
    const { port } = await child.message();
    const found: string[] = [];
    const scraper = new Scraper(port, HEADERS, (what) => found.push(what));
    await scraper.scrape();
    await child.stop('SIGKILL');
    scraper.close();
    this.looks += 1;
    const shown = countersOf(scraper.text);
    const written = new Map([...before].filter(([series]) => series !== WRITE_FAILURES));
    const tooNew = after ? await neverShown(shown, after) : [];
    return [
      ...found,
      ...steppedBack(written, shown),
      ...tooNew.map((line) => `known too early: ${line}`),
      ...differences(dir, scraper.text),
    ];
  }
}

/** What is in the files is shown once it is rendered, which takes a while on a machine that is busy. */
async function neverShown(written: Counters, scrape: () => Promise<Counters>): Promise<string[]> {
  const end = performance.now() + RENDERED_WITHIN_MS;
  for (;;) {
    const ahead = steppedBack(written, await scrape(), /./).filter((line) => !isOfThatStart(line));
    if (ahead.length === 0 || performance.now() > end) return ahead;
    await setTimeout(100);
  }
}

/** What the look itself counts. */
function isOfThatStart(line: string): boolean {
  return /^beaconchain_(api_requests|budget_wait_seconds|exporter_state_write_failures)_total/.test(line);
}
