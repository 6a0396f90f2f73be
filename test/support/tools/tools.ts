import { spawnSync } from 'node:child_process';

/** A program that is not part of the project. */
interface Tool {
  readonly command: string;
  /** Arguments with which it exits with 0 if it is usable. */
  readonly probe: readonly string[];
  readonly how: string;
  /** The tool runs during the tests and uses the clock, and libfaketime has no effect on it. */
  readonly keepsTime?: true;
}

const APT = 'apt-get install --no-install-recommends';

export const PROMTOOL: Tool = { command: 'promtool', probe: ['--version'], how: `${APT} prometheus` };
export const PROMETHEUS: Tool = {
  command: 'prometheus',
  probe: ['--version'],
  how: `${APT} prometheus`,
  // Go reads the clock from the kernel, not from the C library.
  keepsTime: true,
};
export const ALERTMANAGER: Tool = {
  command: 'prometheus-alertmanager',
  probe: ['--version'],
  how: `${APT} prometheus-alertmanager`,
  keepsTime: true,
};
export const AMTOOL: Tool = { command: 'amtool', probe: ['--version'], how: ALERTMANAGER.how };
export const DPKG_DEB: Tool = { command: 'dpkg-deb', probe: ['--version'], how: `${APT} dpkg` };
export const STRIP: Tool = {
  command: `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu-strip`,
  probe: ['--version'],
  how: `${APT} binutils`,
};
export const CURL: Tool = { command: 'curl', probe: ['--version'], how: `${APT} curl` };
export const JQ: Tool = { command: 'jq', probe: ['--version'], how: `${APT} jq` };
export const JSONNET: Tool = { command: 'jsonnet', probe: ['--version'], how: `${APT} jsonnet` };
export const KUBECTL: Tool = { command: 'kubectl', probe: ['kustomize', '--help'], how: `${APT} kubectl` };
export const SYSTEMD_ANALYZE: Tool = { command: 'systemd-analyze', probe: ['--version'], how: `${APT} systemd` };
/** Redis or a compatible server: `REDIS_SERVER=valkey-server npx vitest run ...`. */
export const REDIS: Tool = {
  command: process.env['REDIS_SERVER'] ?? 'redis-server',
  probe: ['--version'],
  how: `${APT} redis-server`,
  // Its allocator reads the clock before libfaketime is ready and then hangs.
  keepsTime: true,
};
export const TINYPROXY: Tool = { command: 'tinyproxy', probe: ['-v'], how: `${APT} tinyproxy-bin` };
/** Makes certificates for tests. */
export const OPENSSL: Tool = { command: 'openssl', probe: ['version'], how: `${APT} openssl` };
export const PYTHON_PARSERS: Tool = {
  // The python3 of the distribution. Another one in the path may lack the packages of the distribution.
  command: '/usr/bin/python3',
  probe: ['-c', 'import prometheus_client.openmetrics.parser'],
  how: `${APT} python3-prometheus-client`,
};
/** The installed Chromium, not one that an npm package downloads. */
export const CHROMIUM: Tool = {
  command: '/usr/bin/chromium',
  probe: ['--version'],
  how: `${APT} chromium`,
  // Its processes hang under libfaketime.
  keepsTime: true,
};

/** Whether libfaketime is active. Files and tools with `keepsTime` still use the machine's time. */
export const isClockFaked = process.env['FAKETIME'] !== undefined;

/**
 * Whether to skip tests that need these tools: because a tool is missing, or because the clock is faked and a tool uses
 * the real one. In CI a missing tool skips nothing: the tests fail and name the tool.
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

/** Runs a tool with this input and waits for its end. */
export function runTool({ command, how }: Tool, args: readonly string[], input: string): ToolRun {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (error) throw new Error(`${command}: ${error.message} (${how})`);
  return { status, stdout, stderr };
}
