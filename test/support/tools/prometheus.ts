import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../files/files.ts';
import { freePort } from '../network/ports.ts';
import { start, waitFor } from '../programs/program.ts';
import { outputOf, PROMETHEUS, PROMTOOL } from './tools.ts';

export interface PrometheusSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export interface PrometheusRange {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [time: number, value: string])[];
}

export interface PrometheusTarget {
  readonly labels: Readonly<Record<string, string>>;
  readonly health: string;
  readonly lastError: string;
}

/** A real Prometheus. It is killed after the tests of the file. */
export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** Settings other than the targets. */
export interface PrometheusOptions {
  readonly scrapeInterval?: string;
  /** OpenMetrics with timestamps, as if it had been scraped before. */
  readonly history?: string;
  /** Fields of each scrape config: `scheme`, `basic_auth`. */
  readonly scraping?: object;
  /** The folder of its blocks. Old blocks in it are kept. */
  readonly data?: string;
}

/** Starts a Prometheus. @param ports The ports to scrape, by job */
export async function startPrometheus(ports: Readonly<Record<string, number>>, options: PrometheusOptions = {}) {
  const folder = temporaryFolder();
  if (options.history !== undefined) {
    const past = join(folder, 'history.txt');
    writeFileSync(past, options.history);
    outputOf(PROMTOOL, ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', past, join(folder, 'data')]);
  }
  const file = join(folder, 'prometheus.json');
  const { scrapeInterval = '500ms', scraping } = options;
  const config = {
    global: { scrape_interval: scrapeInterval, scrape_timeout: scrapeInterval },
    scrape_configs: Object.entries(ports).map(([job, port]) => ({
      job_name: job,
      ...scraping,
      static_configs: [{ targets: [`127.0.0.1:${port}`] }],
    })),
  };
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify(config));
  const port = await freePort();
  const program = start(PROMETHEUS.command, [
    `--config.file=${file}`,
    `--storage.tsdb.path=${options.data ?? join(folder, 'data')}`,
    '--storage.tsdb.retention.time=50y',
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const { data, error } = (await response.json()) as { data: T; error?: string };
    if (error !== undefined) throw new Error(`${error}: ${decodeURIComponent(path)}`);
    return data;
  };
  const result = async <T>(path: string, parameters: Record<string, string>): Promise<readonly T[]> =>
    (await ask<{ result: T[] }>(`${path}?${new URLSearchParams(parameters)}`)).result;
  await waitFor(() => ask('status/buildinfo'));
  return {
    program,
    query: (expression: string) => result<PrometheusSeries>('query', { query: expression }),
    /** @param span Unix seconds. @throws the error of Prometheus if it refuses the query */
    range: (expression: string, { from, to, step }: { from: number; to: number; step: number }) =>
      result<PrometheusRange>('query_range', { query: expression, start: `${from}`, end: `${to}`, step: `${step}` }),
    /** The ingested samples of the last 20 years. */
    samples: (selector: string) => result<PrometheusRange>('query', { query: `${selector}[20y]` }),
    targets: async () => (await ask<{ activeTargets: readonly PrometheusTarget[] }>('targets')).activeTargets,
  };
}
