import type { ApiRequest, Endpoint } from '../api/endpoints.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';

/** One request of `check --probe`. */
export interface Question {
  readonly request: ApiRequest;
  /** Replaces the request if the service may not know its path. */
  readonly otherwise?: ApiRequest;
  /** Whether a record of the answer is plausible when it is read. Default: every one is. */
  readonly isPlausible?: (record: never) => boolean;
  /** What is asked next. `answer`: the JSON, or the error in its place. */
  readonly next?: (answer: unknown) => readonly Question[];
}

export interface Answered {
  readonly endpoint: Endpoint;
  /** Undefined if the answer was read. */
  readonly failure: Error | undefined;
  readonly unreadable: number;
  /** The JSON of the answer, or the error in its place. */
  readonly result: unknown;
}

/** What `check --probe` asks about a source. */
export interface Probing {
  questions(now: () => UnixMs): readonly Question[];
  /** Pure. Lines on what is configured, by these answers. */
  found?(answers: readonly Answered[]): readonly string[];
  /** Pure. The names in the configuration and in the bodies of answers. A public report may not show them. */
  names?(bodies: readonly unknown[]): readonly unknown[];
}
