/** The labels that a scrape adds. */
export const TARGET = 'job="beaconchain",instance="localhost:10032"';

/** The samples of an exposition as a scrape at this time stores them. @param at Unix ms */
export function scrapedLines(exposition: string, at: number): string[] {
  const samples = exposition.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return [...samples, 'up 1'].map((line) => `${withTarget(line)} ${at / 1000}`);
}

/** Plausible numbers of the process, because those of this script would tell nothing about the exporter. */
export function processLines(at: number): string[] {
  const seconds = at / 1000;
  const resident = 9.2e7 + 4e6 * Math.sin(seconds / 4_000) + 1e6 * Math.sin(seconds / 300);
  const busy = 0.004 * (seconds % 1e7) + 3 * Math.sin(seconds / 5_000);
  return scrapedLines(`process_resident_memory_bytes ${resident}\nprocess_cpu_seconds_total ${busy}`, at).slice(0, 2);
}

function withTarget(line: string): string {
  return line.replace(/^(\w+)(?:\{(.*)\})? /s, (_, name: string, labels?: string) =>
    labels ? `${name}{${TARGET},${labels}} ` : `${name}{${TARGET}} `,
  );
}
