import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../test/support/ports.ts';
import { PROMETHEUS, PROMTOOL, runTool } from '../../test/support/tools.ts';

export interface Range {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [time: number, value: string])[];
}

export interface Prometheus {
  readonly url: string;
  /** @param span Unix seconds */
  range(expression: string, span: { from: number; to: number; step: number }): Promise<readonly Range[]>;
  stop(): Promise<void>;
}

/** Writes these samples, lines of OpenMetrics, where a Prometheus finds them when it starts. */
export function importSamples(lines: readonly string[], folder: string): void {
  if (lines.length === 0) return;
  const file = join(folder, 'samples.om');
  writeFileSync(file, `${lines.join('\n')}\n# EOF\n`);
  const args = ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', '--max-block-duration=744h'];
  const { status, stderr } = runTool(PROMTOOL, [...args, file, join(folder, 'data')], '');
  if (status !== 0) throw new Error(`promtool: ${stderr}`);
}

/** Starts a Prometheus that scrapes nothing on the imported samples. */
export async function startPrometheus(folder: string): Promise<Prometheus> {
  const config = join(folder, 'prometheus.yaml');
  writeFileSync(config, '');
  const url = `http://127.0.0.1:${await freePort()}`;
  const program = spawn(
    PROMETHEUS.command,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--storage.tsdb.retention.time=50y',
      `--web.listen-address=${url.replace('http://', '')}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(program, 'exit');
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (program.exitCode !== null) throw new Error(`${PROMETHEUS.command} ended with ${program.exitCode}`);
    await setTimeout(50);
  }
  return {
    url,
    range: async (expression, { from, to, step }) => {
      const query = new URLSearchParams({ query: expression, start: `${from}`, end: `${to}`, step: `${step}` });
      const answer = await fetch(`${url}/api/v1/query_range?${query}`);
      const { data, error } = (await answer.json()) as { data: { result: Range[] }; error?: string };
      if (error !== undefined) throw new Error(`${error}: ${expression}`);
      return data.result;
    },
    stop: async () => {
      program.kill();
      await ended;
    },
  };
}
