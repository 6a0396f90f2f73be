import { spawnSync } from 'node:child_process';

/** A program that is no part of the project and judges its output. */
interface Tool {
  readonly command: string;
  /** Exits with 0 where the tool can be used. */
  readonly probe: readonly string[];
  readonly how: string;
  /** It runs beside the tests and goes by the clock, which libfaketime cannot change for it. */
  readonly keepsTime?: true;
}

const APT = 'apt-get install --no-install-recommends';

export const PROMTOOL: Tool = { command: 'promtool', probe: ['--version'], how: `${APT} prometheus` };
export const PROMETHEUS: Tool = {
  command: 'prometheus',
  probe: ['--version'],
  how: `${APT} prometheus`,
  // Go asks the kernel, not the C library.
  keepsTime: true,
};
export const ALERTMANAGER: Tool = {
  command: 'prometheus-alertmanager',
  probe: ['--version'],
  how: `${APT} prometheus-alertmanager`,
  keepsTime: true,
};
export const AMTOOL: Tool = { command: 'amtool', probe: ['--version'], how: ALERTMANAGER.how };
export const KUBECTL: Tool = { command: 'kubectl', probe: ['kustomize', '--help'], how: `${APT} kubectl` };
export const SYSTEMD_ANALYZE: Tool = { command: 'systemd-analyze', probe: ['--version'], how: `${APT} systemd` };
/** Or what else speaks its protocol: `REDIS_SERVER=valkey-server npx vitest run ...`. */
export const REDIS: Tool = {
  command: process.env['REDIS_SERVER'] ?? 'redis-server',
  probe: ['--version'],
  how: `${APT} redis-server`,
  // Its allocator asks for the time before libfaketime is ready, and waits for ever.
  keepsTime: true,
};
export const TINYPROXY: Tool = { command: 'tinyproxy', probe: ['-v'], how: `${APT} tinyproxy-bin` };
/** Makes the certificates of the tests. */
export const OPENSSL: Tool = { command: 'openssl', probe: ['version'], how: `${APT} openssl` };
export const PYTHON_PARSERS: Tool = {
  // Not the first python3 of the path: that may be one without the distribution's packages.
  command: '/usr/bin/python3',
  probe: ['-c', 'import prometheus_client.openmetrics.parser'],
  how: `${APT} python3-prometheus-client`,
};
/** Not one that a package downloads. */
export const CHROMIUM: Tool = {
  command: '/usr/bin/chromium',
  probe: ['--version'],
  how: `${APT} chromium`,
  // Its processes wait for each other for ever.
  keepsTime: true,
};

/** Files and the programs of `keepsTime` still have the machine's time. */
export const isClockFaked = process.env['FAKETIME'] !== undefined;

/**
 * Whether the tests that need these tools are to be skipped: under a faked clock, those that need a tool with the real
 * one. Where everything must be tested (CI) a missing tool skips nothing: the tests fail and say what is missing.
 */
export function areMissing(...tools: readonly Tool[]): boolean {
  if (isClockFaked && tools.some(({ keepsTime }) => keepsTime)) return true;
  const missing = tools.filter(({ command, probe }) => spawnSync(command, probe).status !== 0);
  for (const { command, how } of missing) process.stderr.write(`tests that need ${command} cannot run: ${how}\n`);
  return missing.length > 0 && !process.env['CI'];
}

export interface ToolRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a tool to its end with this input. */
export function runTool({ command, how }: Tool, args: readonly string[], input: string): ToolRun {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (error) throw new Error(`${command}: ${error.message} (${how})`);
  return { status, stdout, stderr };
}
