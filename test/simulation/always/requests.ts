import { MINUTE, SECOND } from '../../support/time/timing.ts';
import type { Sent } from '../traffic.ts';
import { type Check, when } from './check.ts';

/**
 * No two polls of a source overlap (behaviour 11). A poll may have several requests under way, but never two that are the
 * same, and that of the machines one at a time.
 */
export function noOverlap(): Check {
  const underWay = new Map<string, Sent[]>();
  return {
    name: 'requests: no two polls of a source overlap',
    onEvent(event, world) {
      if (event.kind !== 'sent' && event.kind !== 'end') return undefined;
      const { sent } = event;
      const { base, path, body } = sent.request;
      const isSweep = sent.endpoint.startsWith('machine_');
      const id = `${sent.process} ${isSweep ? 'machines' : `${base}${path}${body}`}`;
      const others = underWay.get(id)?.filter((one) => one !== sent && !(Number(one.endedAt) <= sent.at)) ?? [];
      underWay.set(id, event.kind === 'sent' ? [...others, sent] : others);
      if (event.kind === 'end' || others.length === 0) return undefined;
      const since = others.map(({ at }) => when(at, world)).join(', ');
      return `${sent.endpoint} is sent at ${when(sent.at, world)} while those of ${since} are under way`;
    },
  };
}

const MAX_TIMES = 3;
/** No poll waits so long between two requests. */
const ANOTHER_POLL_MS = 10 * MINUTE;

/**
 * A request is sent again twice at most (behaviour 3). Only a sweep does not ask for the same in two polls, unless the clock
 * was set back to the time of the one before.
 */
export function fewRetries(): Check {
  let [last, lastAt, times] = ['', 0, 0];
  return {
    name: 'requests: few retries',
    onEvent(event, world) {
      if (event.kind !== 'sent' || event.sent.endpoint !== 'machine_metrics') return undefined;
      const { process, key, request, at } = event.sent;
      const what = `${process} ${key} ${request.body}`;
      times = what === last && at - lastAt < ANOTHER_POLL_MS ? times + 1 : 1;
      [last, lastAt] = [what, at];
      return times > MAX_TIMES
        ? `a page of machines is asked for the ${times}th time at ${when(at, world)}`
        : undefined;
    },
  };
}

/** After a reload that changes nothing, no request is given up (behaviour 35). */
export function reloadsEndNothing(): Check {
  /** The configuration that the process has read, and when it last read the same again. */
  let read = '';
  let sameAt = Number.NEGATIVE_INFINITY;
  return {
    name: 'requests: a reload ends no poll',
    onEvent(event, { host, exporter }) {
      if (event.kind === 'start' || event.kind === 'reload') {
        const now = JSON.stringify(event.exporter);
        sameAt = event.kind === 'reload' && now === read ? event.at : Number.NEGATIVE_INFINITY;
        read = now;
      }
      if (event.kind !== 'end' || event.sent.failure !== 'aborted' || event.at !== sameAt) return undefined;
      const { sent, at } = event;
      // The time for an answer may end with the same ms.
      if (at - sent.at >= SECOND * exporter.timeoutSeconds || host.process?.number !== sent.process) return undefined;
      return host.process.isStopping ? undefined : `${sent.endpoint} is given up after ${at - sent.at} ms`;
    },
  };
}
