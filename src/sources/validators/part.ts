import type { Api } from '../../api/client.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { type RefusalContext, refusedUntil } from '../refusal.ts';
import type { ValidatorsOptions } from './options.ts';
import type { Validators } from './schema.ts';

/** The context of all requests of a poll. */
export interface PollContext extends RefusalContext {
  readonly options: ValidatorsOptions;
  readonly api: Api;
}

/** The value after a part was read, and why it was not read completely. */
export interface Step {
  readonly value: Validators;
  readonly failure?: Error | undefined;
}

/** Whether the status is read: it is configured, and the service does not refuse it. */
export function isStatusOn({ status }: ValidatorsOptions, value: Validators, now: UnixMs): boolean {
  return status && now >= refusedUntil(value.statusRefusal);
}
