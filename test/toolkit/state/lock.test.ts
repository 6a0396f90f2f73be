import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { openFileStore, peek } from '../../../src/toolkit/state/file.ts';
import type { StateLocked } from '../../../src/toolkit/state/lock.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { logLines } from '../../support/log/log-lines.ts';
import { SURROUNDINGS } from '../../support/programs/program.ts';
import { NOW } from '../../support/time/timing.ts';
import { VirtualClock } from '../../support/time/virtual-clock.ts';

const RIVAL = join(import.meta.dirname, 'rival.ts');
const CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

/** Another process that uses the directory. */
class Rival {
  readonly #child;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  constructor(dir: string, within: readonly string[] = []) {
    const [command = '', ...args] = [...within, process.execPath, RIVAL, dir];
    this.#child = spawn(command, args, { env: SURROUNDINGS, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    onTestFinished(() => this.kill());
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Gives a command, and resolves to the answer. */
  async ask(command: string): Promise<string> {
    this.#child.stdin.write(`${command}\n`);
    return this.next();
  }

  async next(): Promise<string> {
    return (await this.#lines.next()).value;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

async function rivalIn(dir: string, within?: readonly string[]): Promise<Rival> {
  const rival = new Rival(dir, within);
  expect(await rival.ask('open')).toBe('held');
  return rival;
}

async function open(dir: string, onLost?: (error: StateLocked) => void) {
  const documents = await openFileStore(dir, new VirtualClock(NOW), logLines().log, { version: 1, onLost });
  onTestFinished(() => documents.close());
  return documents;
}

function refusal(dir: string, pid: number | undefined): string {
  return `the state directory ${dir} is in use by process ${pid} on ${hostname()} since `;
}

function hasContainers(): boolean {
  const [command = '', ...args] = [...CONTAINER, 'true'];
  if (spawnSync(command, args).status === 0) return true;
  process.stderr.write('the test of locks between containers cannot run: only root may unshare processes\n');
  return false;
}

it('is an empty file and a line about its holder, both readable to its user only', async () => {
  const dir = temporaryFolder();
  const documents = await open(dir);
  await documents.save('count', 1);
  expect(readdirSync(dir).toSorted()).toEqual(['count.json', 'lock', 'lock.holder']);
  expect(statSync(join(dir, 'lock')).size).toBe(0);
  expect(readFileSync(join(dir, 'lock.holder'), 'utf8')).toBe(
    `process ${process.pid} on ${hostname()} since ${new Date(NOW).toISOString()}\n`,
  );
  for (const name of ['lock', 'lock.holder']) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600);
  await documents.close();
  expect(readdirSync(dir).toSorted()).toEqual(['count.json', 'lock']);
});

it('goes to exactly one of six processes that start at once after the holder was killed', async () => {
  const dir = temporaryFolder();
  const rivals = Array.from({ length: 6 }, () => new Rival(dir));
  await Promise.all(rivals.map((rival) => rival.ask('ready')));
  for (let round = 0; round < 4; round += 1) {
    const at = performance.timeOrigin + performance.now() + 20;
    const answers = await Promise.all(rivals.map((rival) => rival.ask(`open ${at}`)));
    const holder = answers.indexOf('held');
    const others = answers.toSpliced(holder, 1);
    expect(others).toHaveLength(5);
    // Some may read the name of the killed one before the holder has written its own.
    for (const answer of others) expect(answer).toMatch(/^StateLocked: .* in use by (another )?process/);
    await rivals[holder]?.kill();
    rivals[holder] = new Rival(dir);
    await rivals[holder].ask('ready');
  }
});

it('is free at once after kill -9, with all that was written', async () => {
  const dir = temporaryFolder();
  let written = 0;
  for (let kills = 1; kills <= 5; kills += 1) {
    const rival = await rivalIn(dir);
    const found = Number(await rival.ask('load')) || 0;
    // The write that the kill interrupted may have reached the disk.
    expect([written, written + 1]).toContain(found);
    written = Number(await rival.ask(`count ${found + 1}`));
    for (let more = kills % 4; more > 0; more -= 1) written = Number(await rival.next());
    await rival.kill();
    for (let line = await rival.next(); line !== undefined; line = await rival.next()) written = Number(line);
  }
});

it.runIf(hasContainers())('holds between containers, and is free at once after its container was killed', async () => {
  const dir = temporaryFolder();
  const first = await rivalIn(dir, CONTAINER);
  for (const within of [CONTAINER, []]) {
    expect(await new Rival(dir, within).ask('open')).toContain(refusal(dir, 1));
  }
  await first.kill();
  await rivalIn(dir, CONTAINER);
});

it('is kept although this process opens or reads the directory again', async () => {
  const dir = temporaryFolder();
  await open(dir);
  await expect(open(dir)).rejects.toThrow(refusal(dir, process.pid));
  expect(await peek(dir, 1, 'count', z.number())).toBeUndefined();
  expect(await new Rival(dir).ask('open')).toContain(refusal(dir, process.pid));
});

it('is taken again with the next write if the directory was removed', async () => {
  const dir = join(temporaryFolder(), 'state');
  const documents = await open(dir);
  rmSync(dir, { recursive: true });
  await Promise.all([documents.save('count', 1), documents.save('machines', 2)]);
  expect(readdirSync(dir).toSorted()).toEqual(['count.json', 'lock', 'lock.holder', 'machines.json']);
  expect(await new Rival(dir).ask('open')).toContain(refusal(dir, process.pid));
});

it('is lost for good if another process has locked a new directory at this path', async () => {
  const dir = join(temporaryFolder(), 'state');
  const lost: string[] = [];
  const documents = await open(dir, ({ message }) => lost.push(message));
  renameSync(dir, `${dir}.old`);
  const rival = await rivalIn(dir);
  expect(await rival.ask('save 1')).toBe('saved');
  await expect(documents.save('count', 2)).rejects.toThrow(refusal(dir, rival.pid));
  await rival.kill();
  // What this process knows may be older than what the other one has written.
  await expect(documents.save('count', 2)).rejects.toThrow(refusal(dir, rival.pid));
  expect(lost[0]).toContain(refusal(dir, rival.pid));
  expect(await documents.load('count', z.number())).toBe(1);
  await documents.close();
  expect(readFileSync(join(dir, 'lock.holder'), 'utf8')).toContain(`process ${rival.pid} `);
});

it.each([
  ['text', Buffer.from('no lock\n'.repeat(99))],
  ['zeros', Buffer.alloc(8192)],
  ['a cut database', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(99, 7)])],
])('replaces a lock file with %s, but not while a process holds it', async (_name, bytes) => {
  const dir = temporaryFolder();
  const rival = await rivalIn(dir);
  expect(await rival.ask('save 7')).toBe('saved');
  writeFileSync(join(dir, 'lock'), bytes);
  await expect(open(dir)).rejects.toThrow(refusal(dir, rival.pid));
  await rival.kill();
  const documents = await open(dir);
  expect(await documents.load('count', z.number())).toBe(7);
  expect(statSync(join(dir, 'lock')).size).toBe(0);
  expect(await new Rival(dir).ask('open')).toContain(refusal(dir, process.pid));
});

it.each(['link', 'directory'])(
  'refuses a lock file that is a %s, and does not change the target of a link',
  async (kind) => {
    const dir = temporaryFolder();
    const other = join(temporaryFolder(), 'other');
    writeFileSync(other, 'of another program', { mode: 0o644 });
    if (kind === 'link') symlinkSync(other, join(dir, 'lock'));
    else mkdirSync(join(dir, 'lock'));
    await expect(open(dir)).rejects.toThrow(`${dir}/lock: it is not a regular file. Correct this`);
    expect([readFileSync(other, 'utf8'), statSync(other).mode & 0o777]).toEqual(['of another program', 0o644]);
  },
);
