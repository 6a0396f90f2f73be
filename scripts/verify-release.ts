/**
 * Everything that a release needs and that can be checked before it, in one order:
 *
 *     npm run verify:release                      # what would be released now
 *     npm run verify:release -- --tag=v1.2.3      # the tag, too
 *     npm run verify:release -- --list
 *     npm run verify:release -- --only=docs
 *
 * It needs no network beyond what npm has in its cache. The whole test suite is `bash .ci/run`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withHeading } from './cut-release.ts';
import { releaseNotes } from './release-notes.ts';

const ROOT = join(import.meta.dirname, '..');

/** The workflows try the package on the same ones. */
export const NODES = ['24', '26'];

interface Step {
  readonly name: string;
  readonly what: string;
  readonly command: readonly string[];
}

function tests(...files: readonly string[]): readonly string[] {
  return ['vitest', 'run', ...files];
}

/** After the versions, which need no other program. */
export const STEPS: readonly Step[] = [
  { name: 'secrets', what: 'no secret is committed', command: ['npm', 'run', '--silent', 'secrets'] },
  { name: 'code', what: 'types, style, unused code, directions', command: ['npm', 'run', '--silent', 'verify'] },
  { name: 'package', what: 'what is in the package, twice the same', command: ['node', 'scripts/check-package.ts'] },
  ...NODES.map((node) => ({
    name: `node-${node}`,
    what: `the package, installed and run on Node ${node}`,
    command: ['bash', 'scripts/try-package', node],
  })),
  { name: 'deploy', what: 'image, Compose, Kubernetes, systemd, Prometheus', command: tests('test/deploy') },
  {
    name: 'rules',
    what: 'rules, alerts and dashboards',
    command: tests('test/rules.test.ts', 'test/alertmanager.test.ts', 'test/dashboard'),
  },
  {
    name: 'workflows',
    what: 'workflows and the scripts of a release',
    command: tests('test/workflows', 'test/scripts'),
  },
  {
    name: 'docs',
    what: 'links, names, tables and commands of the docs',
    command: tests('test/docs', 'test/system/documented-commands'),
  },
  {
    name: 'stability',
    what: 'names of metrics, and the state',
    command: tests('test/metric-stability.test.ts', 'test/state'),
  },
];

/** Where nothing was cut, what is unreleased counts as the notes. @throws Error where the files do not agree */
export function checkVersions(tag: string | undefined, version: string, changelog: string): string {
  if (tag !== undefined) return releaseNotes(tag, version, changelog);
  const isCut = changelog.includes(`\n## ${version} `);
  return releaseNotes(`v${version}`, version, isCut ? changelog : withHeading(changelog, version, 'today'));
}

function main(): number {
  const { values } = parseArgs({
    options: { tag: { type: 'string' }, list: { type: 'boolean' }, only: { type: 'string', default: '' } },
  });
  const steps = STEPS.filter(({ name }) => name.includes(values.only));
  if (steps.length === 0) {
    const names = STEPS.map(({ name }) => name).join(', ');
    process.stderr.write(`--only=${values.only}: no such step, expected one of ${names}\n`);
    return 2;
  }
  if (values.list) {
    for (const { name, what, command } of steps)
      process.stdout.write(`${name.padEnd(10)} ${what}: ${command.join(' ')}\n`);
    return 0;
  }
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const notes = checkVersions(values.tag, version, readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'));
  process.stdout.write(`== versions: ${version}, with ${notes.split('\n').length} lines in the changelog\n`);
  for (const { name, what, command } of steps) {
    const began = performance.now();
    process.stdout.write(`== ${name}: ${what}\n`);
    const [program = '', ...args] = command;
    const bin = join(ROOT, 'node_modules/.bin');
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, npm_config_prefer_offline: 'true' };
    const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit', env });
    if (error) process.stderr.write(`${error.message}\n`);
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(`== ${name}: ${status === 0 ? 'ok' : 'FAILED'} after ${seconds} s\n`);
    if (status !== 0) {
      process.stdout.write(`again: npm run verify:release -- --only=${name}\n`);
      return 1;
    }
  }
  const all = 'everything that can be checked before a release';
  process.stdout.write(`== ${values.only ? steps.map(({ name }) => name).join(', ') : all}: ok\n`);
  return 0;
}

if (import.meta.main) process.exitCode = main();
