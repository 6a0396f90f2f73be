import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { STATE_VERSION } from '../../src/state/envelope.ts';
import { scrape } from '../support/ask.ts';
import { temporaryFolder } from '../support/files.ts';
import { ahead, portOf, type Running, startExporter, startServe, waitFor } from '../support/program.ts';

/** What the released versions left behind: scripts/release-state.ts records it. */
const VERSIONS = join(import.meta.dirname, 'versions');
/** Nothing answers there, so every value is from the state. */
const NOWHERE = 'http://127.0.0.1:9';
const SERVES = ['--web.listen-address=127.0.0.1:0', '--log.format=json'];

interface Left {
  readonly dir: string;
  readonly config: string;
}

/** A copy of what a version left.  */
function left(version: string): Left {
  const dir = join(temporaryFolder(), 'state');
  cpSync(join(VERSIONS, version, 'state'), dir, { recursive: true });
  const config = readFileSync(join(VERSIONS, version, 'config.yaml'), 'utf8');
  return { dir, config: config.replaceAll('@URL@', NOWHERE).replaceAll('@STATE@', dir) };
}

function recorded(version: string): string {
  return readFileSync(join(VERSIONS, version, 'metrics.txt'), 'utf8');
}

/** Values by series, the labels in alphabetical order. */
function valuesOf(text: string): Map<string, number> {
  const lines = [...text.matchAll(/^(beaconchain_\w+)(?:\{(.*)\})? (\S+)$/gm)];
  return new Map(
    lines.map(([, name = '', labels = '', value]) => {
      const sorted = (labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? []).sort();
      return [`${name}{${sorted}}`, Number(value)];
    }),
  );
}

/** The clock of a program that starts a minute after the version has stopped: nothing is too old to be shown. */
function aMinuteLater(dir: string): NodeJS.ProcessEnv {
  const { value } = JSON.parse(readFileSync(join(dir, 'machines.json'), 'utf8'));
  return ahead(value.lastAttemptAt + 60_000 - Date.now());
}

const COUNTER = /^\w+(_total|_bucket|_sum|_count)\{/;
/** They are of the process, or of the polls that fail since. */
const OF_NOW = /^beaconchain_(api|budget|exporter|ratelimit|source)_/;

function contents(dir: string): Record<string, string> {
  const files = readdirSync(dir).filter((name) => name.endsWith('.json') || name.includes('unreadable'));
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
}

/** The files of a state as a later version may write them: this one cannot read them. */
function makeNewer(dir: string, isChosen: (name: string) => boolean = () => true): void {
  for (const [name, text] of Object.entries(contents(dir))) {
    if (isChosen(name))
      writeFileSync(join(dir, name), JSON.stringify({ ...JSON.parse(text), version: STATE_VERSION + 1 }));
  }
}

async function refusalOf(program: Running): Promise<string> {
  expect(await program.ended).toMatchObject({ code: 1 });
  return program.output;
}

describe.concurrent('upgrade', () => {
  const versions = readdirSync(VERSIONS);

  it('this version has its state recorded: node scripts/release-state.ts', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(versions).toContain(version);
  });

  describe.each(versions)('from %s', (version) => {
    it('its configuration has no mistake and no warning', async () => {
      const { config } = left(version);
      const file = join(temporaryFolder(), 'config.yaml');
      writeFileSync(file, config, { mode: 0o600 });
      const program = startExporter(['check', `--config.file=${file}`]);
      expect(await program.ended).toMatchObject({ code: 0 });
      expect(program.output).not.toMatch(/warning|unknown key/i);
    });

    it('its state is read whole: no counter steps back, and no value is lost', async () => {
      const { dir, config } = left(version);
      const file = join(temporaryFolder(), 'config.yaml');
      writeFileSync(file, config);
      const program = startExporter(['serve', `--config.file=${file}`, ...SERVES], aMinuteLater(dir));
      const now = valuesOf(await scrape(await portOf(program)));
      const before = valuesOf(recorded(version));
      expect([...before.values()].filter((value) => value > 0).length).toBeGreaterThan(200);
      for (const [series, value] of before) {
        if (COUNTER.test(series)) expect(now.get(series), series).toBeGreaterThanOrEqual(value);
        else if (!OF_NOW.test(series)) expect(now.get(series), series).toBe(value);
      }
      await program.stop();
      expect(program.lines('state not readable, starting without it')).toEqual([]);
      expect(Object.keys(contents(dir))).toEqual(Object.keys(contents(join(VERSIONS, version, 'state'))));
    });
  });

  it.each([
    ['every file', () => true],
    ['one file', (name: string) => name === 'slashings-hoodi.json'],
    ['the time of the first start', (name: string) => name === 'first-start.json'],
  ])('the state of a newer version is refused and left as it is: %s', async (_, isChosen) => {
    const { dir, config } = left(versions.at(-1) ?? '');
    makeNewer(dir, isChosen);
    const before = contents(dir);
    const refusal = await refusalOf(startServe(config, 'sandbox'));
    expect(refusal).toContain('was written by a newer version of the exporter');
    expect(refusal).toContain('it was not changed');
    expect(contents(dir)).toEqual(before);
    // The newer version can start again at once.
    expect(existsSync(join(dir, 'lock'))).toBe(false);
  });

  it('what is damaged beside it is moved aside, and the refusal claims only what holds', async () => {
    const { dir, config } = left(versions.at(-1) ?? '');
    writeFileSync(join(dir, 'first-start.json'), '{');
    makeNewer(dir, (name) => name === 'ledger.json');
    const ledger = contents(dir)['ledger.json'];
    const refusal = await refusalOf(startServe(config, 'sandbox'));
    expect(refusal).toContain('state not readable, starting without it');
    expect(refusal).toMatch(/ledger\.json was written by .*; it was not changed/);
    expect(refusal).not.toContain('nothing was changed');
    expect(contents(dir)['ledger.json']).toBe(ledger);
  });

  it.each(['first-start', 'ledger', 'exporter', 'daily_returns-hoodi'])(
    'check warns of a newer state, and backfill is not misled by it: %s',
    async (document) => {
      const { dir, config } = left(versions.at(-1) ?? '');
      makeNewer(dir, (name) => name === `${document}.json`);
      const before = contents(dir);
      const folder = temporaryFolder();
      const file = join(folder, 'config.yaml');
      writeFileSync(file, config, { mode: 0o600 });
      const check = startExporter(['check', `--config.file=${file}`]);
      expect(await check.ended).toMatchObject({ code: 0 });
      expect(check.output).toMatch(
        new RegExp(`Warning: .*/${document}\\.json was written by a newer version .*; serve would not start`),
      );
      if (document === 'first-start' || document === 'ledger') {
        const wanted = ['--source=daily-returns', '--window=7d', '--yes', `--output=${join(folder, 'out.txt')}`];
        const refusal = await refusalOf(startExporter(['backfill', ...wanted, `--config.file=${file}`]));
        expect(refusal).toContain(`${document}.json was written by a newer version of the exporter`);
      }
      expect(contents(dir)).toEqual(before);
    },
  );

  it('the refusal is the line that docs/upgrading.md shows', async () => {
    const { dir, config } = left(versions.at(-1) ?? '');
    makeNewer(dir, (name) => name === 'ledger.json');
    const refusal = await refusalOf(startServe(config, 'sandbox'));
    const line = /the state cannot be read: .*prefix/
      .exec(refusal)?.[0]
      .replaceAll(dir, '/var/lib/beaconchain-exporter');
    expect(readFileSync('docs/upgrading.md', 'utf8').split('\n')).toContain(line);
  });

  it('a reload that adds a chain whose state is newer is refused, and the rest goes on', async () => {
    const { dir, config } = left(versions.at(-1) ?? '');
    const single = config
      .replace(/^ {2}hoodi: .*\n/m, '')
      .replace(/, hoodi: \[[^\]]*\]/, '')
      .replace(/^ {2}chain_rules: .*\n/m, '');
    makeNewer(dir, (name) => name === 'slashings-hoodi.json');
    const before = contents(dir)['slashings-hoodi.json'];
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, single);
    const program = startExporter(['serve', `--config.file=${file}`, ...SERVES]);
    const port = await portOf(program);
    writeFileSync(file, config);
    const response = await fetch(`http://127.0.0.1:${port}/-/reload`, { method: 'POST' });
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('newer version of the exporter');
    expect(await scrape(port)).toContain('beaconchain_machine_last_seen');
    await program.stop();
    expect(contents(dir)['slashings-hoodi.json']).toBe(before);
    await waitFor(() => expect(existsSync(join(dir, 'lock'))).toBe(false));
  });
});
