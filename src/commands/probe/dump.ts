import { access, constants, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RATE_LIMIT_HEADERS } from '../../budget/headers.ts';
import { codeOf } from '../../lib/error-code.ts';
import type { UnixMs } from '../../lib/time.ts';
import { CommandRefused } from '../refused.ts';
import type { Finding } from './finding.ts';
import { Impersonal } from './impersonal.ts';
import type { Exchange } from './recorder.ts';

/** The folder for the answers cannot be used; the message is one line. */
export class DumpRefused extends CommandRefused {
  override readonly name = 'DumpRefused';
}

/** The content of the file of one response. */
export interface DumpedAnswer {
  readonly endpoint: string;
  /** Absent where one answer is for all chains. */
  readonly chain?: string;
  readonly request: { readonly method: string; readonly path: string; readonly body?: unknown };
  readonly status: number;
  readonly milliseconds: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON of the answer. */
  readonly body?: unknown;
  /** Replaces a body that the exporter cannot parse: only its length. */
  readonly text?: string;
}

/** Creates the folder. @throws DumpRefused if it cannot be created or is not empty. */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    // Not recursive, because with `recursive` Node never returns in /proc, where no folder can be created.
    await mkdir(folder).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    await access(folder, constants.W_OK);
    if ((await readdir(folder)).length > 0) throw new DumpRefused(`--probe.dump: the directory ${folder} is not empty`);
  } catch (error) {
    if (error instanceof DumpRefused) throw error;
    throw new DumpRefused(`--probe.dump: the directory ${folder} cannot be used: ${codeOf(error) ?? String(error)}`);
  }
}

/** Writes one file for each answer. Returns how many. @throws DumpRefused */
export async function writeDump(
  folder: string,
  findings: readonly Finding[],
  key: string,
  now: UnixMs,
): Promise<number> {
  const dump = dumpOf(findings, key, now);
  try {
    await Promise.all(
      dump.map(([name, answer]) => writeFile(join(folder, name), `${JSON.stringify(answer, undefined, 2)}\n`)),
    );
  } catch (error) {
    throw new DumpRefused(`The responses could not be written to ${folder}: ${codeOf(error) ?? String(error)}.`);
  }
  return dump.length;
}

/** Pure. The responses without personal data, by file name. */
export function dumpOf(findings: readonly Finding[], key: string, now: UnixMs): [name: string, DumpedAnswer][] {
  const answers = findings.flatMap(({ chain, exchanges }) => exchanges.map((exchange) => ({ chain, exchange })));
  const impersonal = new Impersonal(
    now,
    answers.map(({ exchange: { body } }) => body),
    [key],
  );
  return answers.map(({ chain, exchange }, i) => {
    const number = String(i + 1).padStart(2, '0');
    const name = `${[number, exchange.endpoint, ...(chain ? [chain] : [])].join('-')}.json`;
    return [name, { ...(chain && { chain }), ...dumped(exchange, impersonal, key) }];
  });
}

function dumped(exchange: Exchange, impersonal: Impersonal, key: string): Omit<DumpedAnswer, 'chain'> {
  const { endpoint, method, path, asked, status, headers, durationMs, body } = exchange;
  const isOfMachines = endpoint === 'machine_metrics';
  const request = { method, path, ...(asked === undefined ? {} : { body: impersonal.value(asked, isOfMachines) }) };
  return {
    endpoint,
    request,
    status,
    milliseconds: Math.round(durationMs),
    headers: harmlessHeaders(headers, key),
    ...(body && 'json' in body ? { body: impersonal.value(body.json, isOfMachines) } : {}),
    ...(body && 'text' in body ? { text: `${body.text.length} characters that cannot be read` } : {}),
  };
}

const HEADERS = ['content-type', 'content-encoding', 'retry-after', ...RATE_LIMIT_HEADERS];

/** A number, a date, a media type or a short word. */
const HARMLESS = /^[\w.,:;/=+ -]{0,60}$/;

function harmlessHeaders(headers: Exchange['headers'], key: string): Record<string, string> {
  const kept = HEADERS.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' && HARMLESS.test(value) && !value.includes(key) ? [[name, value]] : [];
  });
  return Object.fromEntries(kept);
}
