import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { SoakSettings, Trouble, World } from './world.ts';

interface Storm {
  readonly clients: number;
  /** One after the other, each before a reload. */
  readonly settings?: readonly SoakSettings[];
  readonly headers?: Record<string, string>;
  readonly status?: number;
  readonly mayLack?: RegExp;
}

const PAUSE_MS = 12;
const HOODI = /chain="hoodi"/;

const STORMS: Readonly<Record<string, Storm>> = {
  'without a change': { clients: 1 },
  'without a change, from 20 clients': { clients: 20 },
  'with a change each time': {
    clients: 1,
    settings: [{ machines: 'max: 5000' }, { more: 'slashings: {weight: 5}\n' }, {}],
  },
  'with a change each time, from 20 clients': {
    clients: 20,
    settings: [{ more: 'budget: {utilization: 0.8}\n' }, { more: 'log: {level: info}\n' }, {}],
  },
  'with a chain that comes and goes': { clients: 2, settings: [{ hoodi: false }, {}], mayLack: HOODI },
  'with a mistake': { clients: 5, settings: [{ mistake: true }], status: 500 },
  'by a page of another origin': { clients: 5, headers: { origin: 'http://elsewhere.example' }, status: 403 },
};

export const RELOAD_STORMS: readonly Trouble[] = Object.entries(STORMS).map(([name, storm]) => ({
  kind: 'reloads',
  name,
  isPolled: true,
  ...(storm.mayLack && { mayLack: storm.mayLack }),
  make: (world, signal) => blow(world, storm, signal),
}));

/** A reload after the other from each client; about one in a second of the exporter's time. */
async function blow(world: World, storm: Storm, signal: AbortSignal): Promise<void> {
  const { clients, settings = [], headers = {}, status: expected = 200 } = storm;
  let asked = 0;
  const client = async (): Promise<void> => {
    while (!signal.aborted) {
      const next = settings[asked % settings.length];
      asked += 1;
      if (next) world.configure(next);
      const status = await reload(world, headers);
      if (status !== expected) world.onFault(`reload answered with ${status}`);
      await setTimeout(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  world.configure({});
  const status = await reload(world);
  if (status !== 200) world.onFault(`reload answered with ${status}`);
}

/** The status of the answer, or an error. */
export function reload({ port, headers }: World, more: Record<string, string> = {}): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/-/reload', method: 'POST', agent: false } as const;
    request({ ...options, headers: { ...headers, ...more } }, (answer) => {
      answer.resume().on('close', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', (error) => resolve(String(error)))
      .end();
  });
}
