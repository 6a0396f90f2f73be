import type { Logger } from '../toolkit/lib/log.ts';
import type { Mistake } from '../toolkit/yaml/mistakes.ts';

/** Warns of each doubt once: after a reload only of new ones. */
export function warningLog(log: Logger): (doubts: readonly Mistake[]) => void {
  let warned = new Set<string>();
  return (doubts) => {
    for (const doubt of doubts.filter((one) => !warned.has(JSON.stringify(one)))) {
      const { place, line, path, message } = doubt;
      log.warn(
        { file: place, line, setting: path, problem: message },
        'a setting is unsafe or does not work as intended',
      );
    }
    warned = new Set(doubts.map((doubt) => JSON.stringify(doubt)));
  };
}
