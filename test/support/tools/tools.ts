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

/** @param from The package of Debian that has it */
function tool(command: string, from: string, more: Partial<Tool> = {}): Tool {
  return { command, probe: ['--version'], how: `apt-get install --no-install-recommends ${from}`, ...more };
}

export const PROMTOOL = tool('promtool', 'prometheus');
// Go reads the clock from the kernel, not from the C library.
export const PROMETHEUS = tool('prometheus', 'prometheus', { keepsTime: true });
export const ALERTMANAGER = tool('prometheus-alertmanager', 'prometheus-alertmanager', { keepsTime: true });
export const AMTOOL = tool('amtool', 'prometheus-alertmanager');
export const DPKG_DEB = tool('dpkg-deb', 'dpkg');
export const STRIP = tool(`${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu-strip`, 'binutils');
export const JSONNET = tool('jsonnet', 'jsonnet');
export const KUBECTL = tool('kubectl', 'kubectl', { probe: ['kustomize', '--help'] });
export const SYSTEMD_ANALYZE = tool('systemd-analyze', 'systemd');
/**
 * Redis or a compatible server: `REDIS_SERVER=valkey-server npx vitest run ...`. Its allocator reads the clock before
 * libfaketime is ready and then hangs.
 */
export const REDIS = tool(process.env['REDIS_SERVER'] ?? 'redis-server', 'redis-server', { keepsTime: true });
/** Makes certificates for tests. */
export const OPENSSL = tool('openssl', 'openssl', { probe: ['version'] });
/** The python3 of the distribution. Another one in the path may lack the packages of the distribution. */
export const PYTHON_PARSERS = tool('/usr/bin/python3', 'python3-prometheus-client', {
  probe: ['-c', 'import prometheus_client.openmetrics.parser'],
});
/** The installed Chromium, not one that an npm package downloads. Its processes hang under libfaketime. */
export const CHROMIUM = tool('/usr/bin/chromium', 'chromium', { keepsTime: true });

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
export function runTool({ command, how }: Tool, args: readonly string[], input = ''): ToolRun {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (error) throw new Error(`${command}: ${error.message} (${how})`);
  return { status, stdout, stderr };
}

/** What a tool writes. @throws if it fails */
export function outputOf(of: Tool, args: readonly string[]): string {
  const { status, stdout, stderr } = runTool(of, args);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
