import type { ApiRequest, Endpoint } from '../api/endpoints.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** One request of `check --probe`. */
export interface Question {
  readonly request: ApiRequest;
  /** Replaces the request if its path may not exist. */
  readonly otherwise?: ApiRequest;
  /** Whether a record is plausible when it is read. Default: all are. */
  readonly isPlausible?: (record: never) => boolean;
  /** The next questions. `answer`: the JSON, or the error instead. */
  readonly next?: (answer: unknown) => readonly Question[];
}

export interface Answered {
  readonly endpoint: Endpoint;
  /** Undefined if the response was readable. */
  readonly failure: Error | undefined;
  readonly unreadable: number;
  /** The JSON of the response, or the error instead. */
  readonly result: unknown;
}

/** What `check --probe` asks about a source. */
export interface Probing {
  questions(now: () => UnixMs): readonly Question[];
  /** Pure. Lines about the configuration, by these responses. */
  found?(answers: readonly Answered[]): readonly string[];
  /** Pure. The names in the configuration and in response bodies, which a public report must not show. */
  names?(bodies: readonly unknown[]): readonly unknown[];
}
