import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { mediaTypeOf, readBody } from '../../api/body.ts';
import { ENDPOINTS } from '../../api/endpoints.ts';
import type { Answer, Transport, WireRequest } from '../../api/transport.ts';
import type { Settings } from '../../exporter/settings.ts';
import { VERSION } from '../../facts/version.ts';
import { codeOf } from '../../toolkit/lib/error-code.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';
import { createFile } from '../../toolkit/state/whole-file.ts';
import { CommandRefused } from '../refusals.ts';
import { listAt } from './questions.ts';
import { shapeOf } from './shape.ts';

/** A request and its answer. */
export interface Exchange {
  readonly request: WireRequest;
  /** Absent: no answer came. */
  readonly answer?: Answer;
  /** The JSON of the answer, or why there is none. */
  readonly body: unknown;
}

/** Keeps each exchange, also the body of a failure. The caller reads the same bytes as without it. */
export function recorded(send: Transport, keep: (exchange: Exchange) => void): Transport {
  return async (request, signal) => {
    const answer = await send(request, signal).catch((error: unknown) => {
      keep({ request, body: error });
      throw error;
    });
    const chunks: Uint8Array[] = [];
    let failure: unknown;
    async function* kept(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of answer.body()) {
          chunks.push(chunk);
          yield chunk;
        }
      } catch (error) {
        failure = error;
        throw error;
      }
    }
    async function* again(): AsyncGenerator<Uint8Array> {
      yield* chunks;
      if (failure !== undefined) throw failure;
    }
    keep({ request, answer, body: await readBody(request.endpoint, kept()).catch((error: unknown) => error) });
    return { ...answer, body: again, discard: () => undefined };
  };
}

/** Pure. The forms of all exchanges, as Markdown for an issue. */
export function publicReportOf(exchanges: readonly Exchange[], { key, config: { machines } }: Settings): string {
  const { expected, include, exclude } = machines;
  const secrets = new Set<unknown>([key, ...expected, ...include, ...exclude, ...exchanges.flatMap(machinesIn)]);
  const forms = exchanges.map(({ request, answer, body }) => ({
    request: `${request.method} ${request.path.replace(/\/\d+(?=\/|$)/g, '/N')}`,
    accept: request.headers['accept'],
    body: request.body && shapeOf([JSON.parse(request.body)], secrets),
    status: answer?.status,
    headers: answer && headersOf(answer),
    answer: body instanceof Error ? body.message.replace(`${request.endpoint}: `, '') : shapeOf([body], secrets),
  }));
  const title = `Requests and answers of beaconchain-exporter ${VERSION}, without names, indices, keys and amounts:`;
  return `${title}\n\n\`\`\`json\n${JSON.stringify(forms, null, 1)}\n\`\`\`\n`;
}

/** The names of machines in an answer. */
function machinesIn({ body }: Exchange): unknown[] {
  const items = ['data', ...Object.keys(ENDPOINTS.machine_metrics.records)].flatMap((path) => listAt(body, path));
  return items.map((item) => (isObject(item) ? item['machine'] : item));
}

const OF_LIMITS = /^((x-)?ratelimit-[a-z-]{1,40}|retry-after|x-beaconchain-version)$/;
/** Values that say nothing of the account but its limits, and what is left of them. Other buckets may name a customer. */
const SHOWN =
  /^((x-)?ratelimit-(limit|remaining|reset)(-[a-z]+)?: \d+|ratelimit-(bucket: (default|app|machine|oldsubnewapi)|window: (second|minute|hour|day|month)|validapikey: (true|false))|retry-after: \d+|x-beaconchain-version: [\d.]+)$/;

function headersOf(answer: Answer): string[] {
  const lines = Object.entries(answer.headers).flatMap(([name, value]) => {
    if (!OF_LIMITS.test(name)) return [];
    const line = `${name}: ${value}`;
    return [SHOWN.test(line) ? line : name];
  });
  return [`content-type: ${mediaTypeOf(answer)}`, ...lines.sort()];
}

/** @throws CommandRefused if a new file cannot be written here */
export async function expectNewFile(file: string): Promise<void> {
  if (existsSync(file)) throw new CommandRefused(`--report: ${file} exists: choose another file or remove it`);
  await access(dirname(file), constants.W_OK).catch((error: unknown) => refuse(file, error));
}

/** Prints a report that cannot be written, because it cost requests. @throws CommandRefused */
export async function writeReport(file: string, report: string): Promise<string> {
  await createFile(file, report, 0o644).catch((error: unknown) => {
    process.stdout.write(report);
    refuse(file, error);
  });
  return `${file} has the forms of requests and answers for an issue. It has no names, indices, keys or amounts.\n`;
}

function refuse(file: string, error: unknown): never {
  throw new CommandRefused(`--report: ${file} cannot be written: ${codeOf(error)}`);
}
