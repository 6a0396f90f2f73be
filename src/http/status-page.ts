import { type Html, html } from './html.ts';

/** What the page shows. Times are Unix ms; undefined: never. */
export interface Status {
  readonly now: number;
  readonly version: string;
  readonly telemetryPath: string;
  readonly sources: readonly {
    readonly name: string;
    readonly chain: string;
    readonly up: boolean;
    readonly lastSuccessAt: number | undefined;
    readonly nextAttemptAt: number;
    readonly intervalMs: number;
    readonly error: string | undefined;
  }[];
  readonly budget: readonly {
    readonly bucket: string;
    readonly window: string;
    readonly limit: number;
    readonly left: string;
  }[];
  readonly machines: readonly {
    readonly name: string;
    readonly chain: string;
    readonly lastSeenAt: number | undefined;
  }[];
  readonly slashings: readonly {
    readonly chain: string;
    readonly count: number;
    readonly lastAt: number | undefined;
  }[];
}

const STYLE = html`
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; overflow-wrap: anywhere; }
  .scroll { overflow-x: auto; }
`;

/** The landing page: is it working, and when does it look next? */
export function statusPage(status: Status): string {
  const { now } = status;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>beaconchain-exporter</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>beaconchain-exporter</h1><p>Version ${status.version}. <a href="${status.telemetryPath}">Metrics</a></p></header>
<main>
${table(
  'Sources',
  ['Source', 'Chain', 'State', 'Last success', 'Next attempt', 'Every', 'Last error'],
  status.sources.map((source) => [
    source.name,
    source.chain,
    source.up ? 'up' : 'down',
    relative(source.lastSuccessAt, now),
    relative(source.nextAttemptAt, now),
    span(source.intervalMs),
    source.error ?? '',
  ]),
)}
${table(
  'Budget',
  ['Bucket', 'Window', 'Limit', 'Left'],
  status.budget.map(({ bucket, window, limit, left }) => [bucket, window, String(limit), left]),
)}
${table(
  'Machines',
  ['Machine', 'Chain', 'Last seen'],
  status.machines.map(({ name, chain, lastSeenAt }) => [name, chain, relative(lastSeenAt, now)]),
)}
${table(
  'Attester slashings',
  ['Chain', 'Counted', 'Last'],
  status.slashings.map(({ chain, count, lastAt }) => [chain, String(count), relative(lastAt, now)]),
)}
</main>
</body>
</html>
`.text;
}

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): Html {
  const head = columns.map((column) => html`<th scope="col">${column}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`);
  return html`<section><h2>${title}</h2><div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>
${body}</tbody></table></div></section>`;
}

/** https://tc39.es/ecma262/#sec-time-values-and-time-range */
const LATEST_DATE_MS = 8.64e15;

/** Relative and absolute, UTC. */
function relative(at: number | undefined, now: number): string {
  if (at === undefined) return 'never';
  if (!Number.isFinite(at)) return 'not without the operator';
  if (at > LATEST_DATE_MS) return 'unknown';
  const absolute = `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return at <= now ? `${span(now - at)} ago (${absolute})` : `in ${span(at - now)} (${absolute})`;
}

function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
