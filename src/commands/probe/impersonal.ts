import { FIELD_NAMES } from '../../api/specification.ts';
import { isObject } from '../../lib/is-object.ts';
import { isMilliseconds, type UnixMs, type UnixSeconds } from '../../lib/time.ts';

/** The time of the probe as a dump has it: times of machine records keep only their distance from it. */
export const DUMPED_NOW: UnixSeconds = 1_800_000_000;

/** Text that is known to be impersonal. All other text is replaced. */
const PLAIN_TEXTS = new Set([
  ...['', 'OK', '0', '1', '2', '3', 'finalized', 'not_finalized', 'latest', 'next', 'mainnet', 'hoodi', '24h'],
  ...['lighthouse', 'lodestar', 'nimbus', 'prysm', 'teku', 'grandine', 'lin', 'linux', 'win', 'mac', 'dar', 'unk'],
]);

const VERSION = /^v?\d{1,3}(\.\d{1,4}){1,2}(?!\.?\d)/;
const WEI = /^-?(0|[1-9]\d{0,29})$/;
const HEX = /^0x[0-9a-f]*$/i;
/** The back end sends these instead of a root (api-facts 5.1). */
const PLACEHOLDER_ROOT = /^0x0?[01]?$/;
const INDICES = /^[\d{}[\], ]*$/;
/** Words, without what looks like an index or a hash. */
const FIELD_NAME = /^(?!.*(\d{3}|[0-9a-f]{8}))[a-z][a-z0-9_]{0,59}$/;
/** Stands for an unknown proposer (api-facts 5.1). */
const NOBODY = 2_147_483_647;

const INDEX_FIELDS = /^(proposer|proposerindex|validator|validators|attestation[12]_indices)$/;
const WEI_FIELDS = /^(effective_balance|start_balance|end_balance|deposits|total|consensus_layer|execution_layer)$/;
const VERSION_FIELDS = /^(client_version|exporter_version)$/;
const MACHINE_FIELDS = /^machines?$/;
const MACHINE_TIME_FIELDS = /^(timestamp|misc_node_boot_ts_seconds)$/;
/** Public numbers of the chain. */
const CHAIN_FIELDS =
  /^(slot|epoch|period|timestamp|day|day_start|day_end|start|end|start_epoch|end_epoch|block_slot|block_index|combined|consensus_layer|execution_layer|sync_beacon_head_slot|syncaggregate_participation|page_size|(attestation|header)[12]_(slot|index|source_epoch|target_epoch)|exec_\w+|(attestations|attesterslashings|proposerslashings|deposits|voluntaryexits|withdrawal|eth1data_deposit)count)$/;

/**
 * Replaces what is personal in answers: names, validator indices, hashes, addresses, cursors and any text that is not
 * known to be harmless. The same value becomes the same replacement in all answers, so that they still fit together.
 * Times of machines keep their distance. Other numbers, except those of the chain, keep two digits.
 */
export class Impersonal {
  readonly #shift: UnixSeconds;
  readonly #replaced = new Map<string, string>();
  readonly #indices = new Map<number, number>();
  /** The next replacement of an index, by its number of digits. */
  readonly #nextIndex = new Map<number, number>();
  /** A text that is replaced elsewhere must not remain as the name of an unknown field. */
  readonly #texts: ReadonlySet<string>;

  /**
   * @param answers All responses in which text will be replaced. @param secrets Further texts that must be replaced.
   */
  constructor(now: UnixMs, answers: readonly unknown[], secrets: readonly string[]) {
    this.#shift = DUMPED_NOW - Math.floor(now / 1000);
    this.#texts = new Set([...secrets, ...answers.flatMap(textsIn)]);
  }

  /** @param isOfMachines Whether the times are those of the user's own machines. */
  value(value: unknown, isOfMachines: boolean, field = ''): unknown {
    if (Array.isArray(value)) return value.map((item) => this.value(item, isOfMachines, field));
    if (isObject(value)) return this.#members(value, isOfMachines, field);
    if (typeof value === 'string') return this.#text(value, field);
    if (typeof value === 'number') return this.#number(value, isOfMachines, field);
    return value;
  }

  #members(value: Readonly<Record<string, unknown>>, isOfMachines: boolean, field: string): object {
    const members = Object.entries(value).map(([name, member]) => {
      const isName = FIELD_NAMES.has(name) || (FIELD_NAME.test(name) && !this.#texts.has(name));
      // `range.timestamp` of a request has its times one level further down.
      const inner = field === 'timestamp' && isOfMachines ? 'timestamp' : name;
      return [isName ? name : this.#replacement('field', name), this.value(member, isOfMachines, inner)];
    });
    return Object.fromEntries(members);
  }

  #text(text: string, field: string): string {
    if (MACHINE_FIELDS.test(field) && text !== '') return this.#replacement('machine', text);
    if (PLAIN_TEXTS.has(text) || PLACEHOLDER_ROOT.test(text)) return text;
    if (WEI_FIELDS.test(field) && WEI.test(text)) return text;
    if (INDEX_FIELDS.test(field) && INDICES.test(text))
      return text.replace(/\d+/g, (digits) => String(this.#index(Number(digits))));
    if (VERSION_FIELDS.test(field)) return VERSION.exec(text)?.[0] ?? this.#replacement('text', text);
    if (HEX.test(text)) return this.#hex(text);
    if (field === 'next_cursor' || field === 'cursor') return this.#replacement('cursor', text);
    return this.#replacement('text', text);
  }

  #number(value: number, isOfMachines: boolean, field: string): number {
    if (INDEX_FIELDS.test(field)) return this.#index(value);
    if (isOfMachines && MACHINE_TIME_FIELDS.test(field)) {
      return isMilliseconds(value) ? value + this.#shift * 1000 : value + this.#shift;
    }
    return CHAIN_FIELDS.test(field) ? value : rounded(value);
  }

  /** With as many digits. */
  #index(index: number): number {
    if (index === NOBODY) return index;
    if (!Number.isSafeInteger(index) || index < 0) return rounded(index);
    const known = this.#indices.get(index);
    if (known !== undefined) return known;
    const digits = String(index).length;
    const other = this.#nextIndex.get(digits) ?? 10 ** (digits - 1);
    this.#nextIndex.set(digits, other + 1);
    this.#indices.set(index, other);
    return other;
  }

  /** As long as the original. */
  #hex(text: string): string {
    const number = this.#replacement('hex', text.toLowerCase()).slice('hex-'.length);
    return `0x${Number(number)
      .toString(16)
      .padStart(text.length - 2, '0')
      .slice(-(text.length - 2))}`;
  }

  #replacement(kind: string, original: string): string {
    const id = `${kind} ${original}`;
    const known = this.#replaced.get(id) ?? `${kind}-${this.#replaced.size + 1}`;
    this.#replaced.set(id, known);
    return known;
  }
}

function rounded(value: number): number {
  return Number(value.toPrecision(2));
}

/** All texts of a value, without the names of its members. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
