import { join } from 'node:path';
import type { Plan, Slice } from '../../../src/backfill/plan.ts';
import type { FaultServer } from '../faults/fault-server.ts';
import { configFile, temporaryFolder } from '../files/files.ts';
import { type Running, startExporter } from './program.ts';

export const KEY = 'a-key-that-nobody-may-see';

const WATCHED = 'validators: {watch: {mainnet: ["12340-12349"]}}';

/** Runs backfills in a temporary folder, with a configuration for this service. */
export class BackfillRuns {
  readonly folder: string;
  readonly output: string;
  readonly config: string;

  readonly #env: NodeJS.ProcessEnv;

  /** @param folder Of other runs, with whose state these go on. */
  constructor(
    { url }: FaultServer,
    env: NodeJS.ProcessEnv = {},
    folder = temporaryFolder(),
    name = 'past.om',
    validators = WATCHED,
  ) {
    this.#env = env;
    this.folder = folder;
    this.output = join(folder, name);
    this.config = configFile(
      `api: {base_url: "${url}"}
chains: {mainnet: {v1_base_url: "${url}"}, hoodi: {v1_base_url: "${url}/hoodi"}}
${validators}
machines: {chain: mainnet, chain_rules: [{match: "hoodi-*", chain: hoodi}]}
state: {dir: "${folder}/state"}
`,
      folder,
    );
  }

  start(...flags: readonly string[]): Running {
    const args = ['backfill', `--config.file=${this.config}`, `--output=${this.output}`, ...flags];
    return startExporter(args, { ...this.#env, BEACONCHAIN_API_KEY: KEY });
  }

  /** Waits for the end of a run. @throws if it fails */
  async run(...flags: readonly string[]): Promise<Running> {
    const running = this.start(...flags);
    const { code } = await running.ended;
    if (code !== 0) throw new Error(`ended with ${code}: ${running.output}`);
    return running;
  }
}

/** The promtool command lines that a run printed for a plain Prometheus, split into words. */
export function promtoolLines(output: string): string[][] {
  return [...output.matchAll(/^ {2}promtool (.*)$/gm)].map(([, line = '']) => line.split(' '));
}

/** A service that is fast enough for a test. */
export const FAST = { plan: { perSecond: 1_000 }, machines: 4 } as const;

/** A plan of one slice for each range, as of a run without flags. */
export function planOf(ranges: readonly Slice['range'][], end: number): Plan {
  const slices = ranges.map((range, id) => ({ id, source: 'machines', range, expected: 10 }));
  return { version: 4, flags: {}, now: end, end, slices };
}
