import { Agent, request } from 'node:http';

/** The exporter's own counters: those of machines are another program's. */
const COUNTER = /^(beaconchain_(?!machine_)\w+_(?:total|bucket|sum|count)(?:\{[^}]*\})?) (\S+)$/gm;
/** As Prometheus. */
const PATIENCE_MS = 10_000;

export type Counters = ReadonlyMap<string, number>;

/** Scrapes as Prometheus does, and keeps what must not be: scrapes without an answer, counters that step back. */
export class Scraper {
  readonly #port: number;
  readonly #headers: Record<string, string>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #onFault: (what: string) => void;
  /** The most that each counter has shown. */
  readonly most = new Map<string, number>();
  /** Of each scrape, milliseconds. */
  readonly times: number[] = [];
  text = '';
  /** Counters of a chain that was switched off may be away; they come back as they were. */
  mayLack: RegExp | undefined;

  constructor(port: number, headers: Record<string, string>, onFault: (what: string) => void) {
    this.#port = port;
    this.#headers = headers;
    this.#onFault = onFault;
  }

  async scrape(): Promise<void> {
    const began = performance.now();
    try {
      this.text = await this.#get();
    } catch (error) {
      this.#onFault(`scrape not answered: ${error}`);
      return;
    } finally {
      this.times.push(performance.now() - began);
    }
    for (const line of steppedBack(this.most, countersOf(this.text), this.mayLack)) this.#onFault(line);
    for (const [series, value] of countersOf(this.text)) this.most.set(series, value);
  }

  close(): void {
    this.#agent.destroy();
  }

  #get(): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, path: '/metrics', agent: this.#agent };
      const outgoing = request({ ...options, headers: this.#headers, timeout: PATIENCE_MS }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('error', reject).on('end', () => {
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`status ${response.statusCode}`));
        });
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error(`nothing for ${PATIENCE_MS} ms`)));
      outgoing.on('error', reject).end();
    });
  }
}

export function countersOf(text: string): Counters {
  return new Map([...text.matchAll(COUNTER)].map(([, series = '', value]) => [series, Number(value)]));
}

/** The counters that are lower in `after`, or gone. */
export function steppedBack(before: Counters, after: Counters, mayLack?: RegExp): string[] {
  return [...before]
    .filter(([series]) => after.has(series) || !mayLack?.test(series))
    .filter(([series, value]) => !((after.get(series) ?? Number.NaN) >= value))
    .map(([series, value]) => `${series} was ${value}, is ${after.get(series)}`);
}

/** The value of a series, written as it is exposed. */
export function seriesValue(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? Number.NaN);
}
