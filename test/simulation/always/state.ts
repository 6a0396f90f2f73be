import { FIRST_START } from '../../../src/exporter/state.ts';
import { STATE_DIR } from '../exporter-setting.ts';

import type { Check } from './check.ts';

/** What a start finds is checked by the host itself. */

const FAILURES = 'beaconchain_exporter_state_write_failures_total';
/** A slow disk delays the figures by this much. */
const SHOWN_AFTER_MS = 60_000;

/** Where writes of a state in files fail, each is counted. */
export function failuresCounted(): Check {
  const noted = new Map<string, { readonly at: number; readonly process: number; readonly failed: number }[]>();
  return {
    name: 'state: each failed write is counted',
    onScrape(scrape, { hosts, exporter }) {
      if (exporter.replicas > 0) return undefined;
      const { host, process, at } = scrape;
      const failed = hosts.find(({ name }) => name === host)?.versions.failed ?? 0;
      const all = [...(noted.get(host) ?? []), { at, process, failed }];
      const isOld = (one: { at: number }): boolean => at - one.at > SHOWN_AFTER_MS + 2 * exporter.refreshMs;
      const last = all.findLast((one) => one.process === process && isOld(one));
      noted.set(
        host,
        all.filter((one) => one === last || !isOld(one)),
      );
      const shown = scrape.series.get(FAILURES) ?? 0;
      if (last && shown < last.failed) return `${shown} are shown, and ${last.failed} had failed a minute ago`;
      return undefined;
    },
  };
}

/** Documents of the usual stories are far below this. */
const MAX_BYTES = 5_000_000;
/** Of writes that failed in such a way that their remains could not be removed. A start removes them. */
const MAX_DRAFTS = 1_000;
const DOCUMENT = /^[a-z_-]+\.json$/;

/** The state directory holds what it should, and stays small. */
export function directoryBounded(): Check {
  return {
    name: 'state: the directory stays small',
    atEnd({ hosts, exporter }) {
      if (exporter.replicas > 0) return undefined;
      for (const { name, disk } of hosts) {
        const files = [...disk.filesIn(STATE_DIR)];
        const bytes = files.reduce((sum, [, content]) => sum + content.length, 0);
        if (bytes > MAX_BYTES) return `${name} has ${bytes} bytes in ${files.length} files`;
        const drafts = files.filter(([file]) => file.includes('.tmp-')).length;
        if (drafts > MAX_DRAFTS) return `${name} has ${drafts} drafts`;
        const names = files.map(([file]) => file);
        if (
          !names.includes('ledger.json') ||
          !names.some((file) => DOCUMENT.test(file) && file !== `${FIRST_START}.json`)
        )
          return `${name} has only ${names.join(', ')}`;
      }
      return undefined;
    },
  };
}
