import type { FleetRequest } from '../../support/fleet.ts';
import { boundOf } from '../../support/fleet-run.ts';
import { MINUTE, SECOND } from '../../support/timing.ts';
import type { Sent } from '../traffic.ts';
import type { World } from '../world.ts';

/** Five sweeps read a whole minute of late records. */
const PART_SECONDS = 12;
const ARRAYS_PER_PAGE = 3;
/** The range of the newest records ends later than now, and one of late records long before. */
const LATE_MS = 4 * MINUTE;

/**
 * Follows the sweeps of a process. Where pushes come together, the newest records of one sweep can take nearly all
 * requests that a sweep may take (behaviour 12). Then few or none are left to look for late records (behaviour 13).
 */
export class Searches {
  /** How many sweeps had too few requests left for their part of the late records. */
  cutShort = 0;
  #process = 0;
  #requests = 0;
  #lateSeconds = 0;

  /** `live`: the machines that the process knows. */
  note(sent: Sent, live: number, { service }: World): void {
    if (sent.endpoint !== 'machine_metrics') return;
    const { range, machines, cursor }: Partial<FleetRequest> = JSON.parse(sent.request.body ?? '{}');
    // The service refuses it.
    if (!range) return;
    const { start, end } = range.timestamp;
    const isFirst = cursor === undefined && machines === undefined;
    if (sent.process !== this.#process || (isFirst && end * SECOND > sent.ownAt)) {
      this.#process = sent.process;
      this.#requests = 0;
      this.#lateSeconds = 0;
    }
    this.#requests += 1;
    if (isFirst && end * SECOND < sent.ownAt - LATE_MS) this.#lateSeconds += end - start;
    const most = Math.floor(boundOf(live) * (service.setting.pageSizeOver === 'all' ? ARRAYS_PER_PAGE : 1));
    if (this.#requests === most && this.#lateSeconds < PART_SECONDS) this.cutShort += 1;
  }
}
