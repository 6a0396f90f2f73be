import type { Ledger } from '../budget/ledger.ts';
import type { Logger } from '../lib/log.ts';

type Key = Ledger['key'];

const MESSAGES = {
  refused: 'the API key is refused',
  revoked: 'access is revoked',
} as const satisfies Partial<Record<Key['standing'], string>>;

const HOW_TO_SET = 'in api.key or api.key_file and reload, or in BEACONCHAIN_API_KEY and restart';

const HELP: Readonly<Record<keyof typeof MESSAGES, string>> = {
  refused: `create or renew a key at beaconcha.in and set it ${HOW_TO_SET}; the key is tried again every 10 minutes`,
  revoked: `the trial is over or the subscription was cancelled: renew it at beaconcha.in, then restart or reload at least 10 minutes after the refusal; or set another key ${HOW_TO_SET}; no requests are sent until then`,
};

/**
 * Logs once when the service refuses the key or revokes access, and when it accepts a key again. Nothing is polled in
 * between, so without these lines the program would seem to hang.
 */
export class KeyLog {
  readonly #log: Logger;
  #told: Key['standing'] | undefined;
  /** Whether the service has accepted no key since it refused one. */
  #isShutOut = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * The operator starts or reloads the program, so the status is logged again. If a probe is sent, its response is
   * logged instead.
   */
  begin(key: Key): void {
    this.#told = undefined;
    if (key.mayProbe) this.#isShutOut = true;
    else this.tell(key);
  }

  /**
   * The service refused a request, and this is persisted: if the program is killed now, it still knows it after the
   * restart.
   */
  tell({ standing, since }: Key): void {
    if ((standing !== 'refused' && standing !== 'revoked') || this.#told === standing) return;
    this.#told = standing;
    this.#isShutOut = true;
    this.#log.error({ since: new Date(since).toISOString(), help: HELP[standing] }, MESSAGES[standing]);
  }

  /** The ledger has changed: the service may accept the key by now. */
  see({ standing }: Key): void {
    if (standing !== 'valid') return;
    if (this.#isShutOut) this.#log.info('the service accepts the API key again');
    this.#isShutOut = false;
    this.#told = undefined;
  }
}
