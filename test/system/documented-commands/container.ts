/**
 * Stands in for `docker build`, `docker run` and `docker compose`: refuses what the Dockerfile or compose.yaml do not have, and
 * runs the command of a container with its variables and its files, below the folder.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';

const FOLDER = process.env['FAKE_ROOT'] ?? '';
const DOCKERFILE = 'Dockerfile';
const many = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;

const RUN_OPTIONS = {
  detach: flag,
  rm: flag,
  'read-only': flag,
  name: { type: 'string' },
  restart: { type: 'string' },
  'cap-drop': many,
  'security-opt': many,
  publish: many,
  volume: many,
  env: many,
} as const;

function refuse(why: string): never {
  process.stderr.write(`docker ${process.argv.slice(2).join(' ')}: ${why}\n`);
  process.exit(64);
}

/** Everything that the image is made of must be there. */
function build(args: readonly string[]): void {
  const { positionals } = parseArgs({
    args: [...args],
    options: { tag: { type: 'string', short: 't' } },
    allowPositionals: true,
  });
  const [context = refuse('no context')] = positionals;
  const copies = [...readFileSync(join(context, DOCKERFILE), 'utf8').matchAll(/^COPY (?!--)(.+) \S+$/gm)];
  const missing = copies
    .flatMap(([, files = '']) => files.split(' '))
    .filter((file) => !existsSync(join(context, file)));
  if (copies.length === 0 || missing.length > 0) refuse(`the Dockerfile copies ${missing.join(', ')}`);
}

function run(args: readonly string[]): void {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && !takesValue(args[index - 1]));
  const [image, ...command] = args.slice(at);
  if (image !== 'beaconchain-exporter') refuse(`there is no image ${image}`);
  const { values } = parseArgs({ args: args.slice(0, at), options: RUN_OPTIONS });
  const exposed =
    readFileSync(DOCKERFILE, 'utf8')
      .match(/(?<=^EXPOSE ).*$/m)?.[0]
      .split(' ') ?? [];
  for (const published of values.publish ?? []) {
    const port = published.split(':').at(-1) ?? '';
    // The demo listens on the loopback of the container unless it is told otherwise.
    const isReached = command[0] !== 'demo' || command.some((word) => word.includes('listen-address=0.0.0.0:'));
    if (!isReached || !exposed.includes(port)) refuse(`nothing is on port ${port}`);
  }
  for (const [from = '', to = ''] of (values.volume ?? []).map((volume) => volume.split(':'))) mount(from, to);
  start(command, Object.fromEntries((values.env ?? []).map((name) => [name, process.env[name]])));
}

function takesValue(before: string | undefined): boolean {
  const option = Object.entries(RUN_OPTIONS).find(([name]) => before === `--${name}`);
  return option?.[1].type === 'string';
}

/** Puts a file where the container has it. A named volume must be a folder of the image. */
function mount(from: string, to: string): void {
  const isFile = /^[./]/.test(from);
  if (isFile && !existsSync(from)) refuse(`${from} is not there`);
  if (isFile && to.startsWith('/etc/beaconchain-exporter/')) cpSync(from, join(FOLDER, to));
  if (!isFile && !existsSync(join(FOLDER, to))) refuse(`the image has no ${to}`);
}

/** The container inherits only what its programs need, and what keeps it from fixed ports and from the network. */
function start(command: readonly string[], variables: NodeJS.ProcessEnv): void {
  const { PATH, FAKE_ROOT, HTTPS_PROXY, NODE_COMPILE_CACHE } = process.env;
  const env = {
    ...variables,
    ...{ PATH, FAKE_ROOT, HTTPS_PROXY, NODE_COMPILE_CACHE },
    BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
    BEACONCHAIN_EXPORTER_SANDBOX_LISTEN_ADDRESS: '127.0.0.1:0',
  };
  const { status } = spawnSync('inside', ['beaconchain-exporter', ...command], {
    env,
    cwd: join(FOLDER, 'var/lib/beaconchain-exporter'),
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 70);
}

function compose([...args]: readonly string[]): void {
  const file = args[0] === '--env-file' ? args.splice(0, 2)[1] : '.env';
  const variables = file && existsSync(file) ? variablesOf(readFileSync(file, 'utf8')) : {};
  if (file !== '.env' && Object.keys(variables).length === 0) refuse(`${file} is not there`);
  const { services } = parse(interpolate(readFileSync('compose.yaml', 'utf8'), variables), { merge: true });
  const [command = '', ...rest] = args;
  const allowed: Record<string, readonly string[]> = {
    up: ['--detach', '--build'],
    down: ['--volumes'],
    logs: ['--follow'],
    restart: [],
  };
  const words = rest.filter((word) => !(allowed[command] ?? refuse('no stand-in')).includes(word));
  const unknown = words.filter((word) => !(word in services));
  if (unknown.length > 0) refuse(`there is no service ${unknown.join(', ')}`);
  if (command !== 'up') return;
  const { build: image, command: words_, environment, volumes } = services.exporter;
  if (!existsSync(join(image.context, DOCKERFILE))) refuse('there is no Dockerfile');
  for (const [from, to] of volumes.map((volume: string) => volume.split(':'))) mount(from, to);
  const inside = Object.entries<string | null>(environment).map(([name, value]) => [
    name,
    value?.startsWith('/etc/') ? join(FOLDER, value) : (value ?? ''),
  ]);
  start(words_, Object.fromEntries(inside));
}

function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

/** As Compose does it: a default also takes the place of an empty variable after `:-`, and `:?` demands one. */
function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?:(:?)([-?])([^}]*))?\}/g, (_, name: string, colon, sign, otherwise = '') => {
    const value = variables[name];
    if (value !== undefined && (value !== '' || colon !== ':')) return value;
    return sign === '?' ? refuse(`${name} is required: ${otherwise}`) : otherwise;
  });
}

const [command = '', ...rest] = process.argv.slice(2);
const commands: Record<string, (args: readonly string[]) => void> = { build, run, compose };
(commands[command] ?? (() => refuse('no stand-in')))(rest);
