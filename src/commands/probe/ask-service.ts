import { createInterface } from 'node:readline/promises';
import type { Ledger } from '../../budget/ledger.ts';
import type { Settings } from '../../exporter/settings.ts';
import type { Proxies } from '../../lib/proxies.ts';
import type { UnixMs } from '../../lib/time.ts';
import { plural } from '../../lib/words.ts';
import { DumpRefused, prepareFolder, writeDump } from './dump.ts';
import { type Probe, probe, requestsOf } from './probe.ts';
import { reportOf } from './report.ts';
import { describeKey, isKeyRefused, type Verdict, verdictOf } from './verdict.ts';

export interface ProbeOptions extends Settings {
  readonly proxies?: Proxies | undefined;
  /** The folder for the responses without personal data. */
  readonly dump?: string | undefined;
  readonly now: UnixMs;
}

export interface ProbeAnswer {
  /** The limits and the status of the key, from the responses. */
  readonly ledger: Ledger;
  readonly verdict: Verdict;
  readonly isKeyRefused: boolean;
  /** For the reader. */
  readonly text: string;
}

/**
 * Sends one request to every enabled endpoint, and describes the responses. @throws DumpRefused before any request is
 * sent
 */
export async function askService(options: ProbeOptions): Promise<ProbeAnswer> {
  const { dump, now, proxies } = options;
  if (dump !== undefined) await prepareFolder(dump);
  const answers = await probe(options, proxies, now);
  const written = dump === undefined ? undefined : await tryToWrite(dump, answers, options);
  const lines = ['', reportOf(answers.findings), ...(written ? [written.text] : []), '', describeKey(answers)];
  return {
    ledger: answers.ledger,
    verdict: written?.isRefused ? 'refused' : verdictOf(answers),
    isKeyRefused: isKeyRefused(answers.ledger),
    text: lines.join('\n'),
  };
}

/** The requests are spent, so the results are shown even if they cannot be written. */
async function tryToWrite(
  dump: string,
  { findings }: Probe,
  { key, now }: ProbeOptions,
): Promise<{ readonly isRefused: boolean; readonly text: string }> {
  try {
    const files = await writeDump(dump, findings, key, now);
    return { isRefused: false, text: `${plural(files, 'response')} written to ${dump}, without personal data.` };
  } catch (error) {
    if (!(error instanceof DumpRefused)) throw error;
    return { isRefused: true, text: error.message };
  }
}

/** Prints the cost. On a terminal it asks the user. */
export async function mayAsk(settings: Settings, isAgreed: boolean): Promise<boolean> {
  const { stdin, stderr } = process;
  const { usual, further } = requestsOf(settings);
  const most = further > 0 ? ` (at most ${usual + further})` : '';
  const requests = `${plural(usual, 'request')}${most}`;
  stderr.write(`Sends ${requests} to ${settings.config.api.baseUrl}, which count against your quota.\n`);
  if (isAgreed || !stdin.isTTY || !stderr.isTTY) return true;
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Continue? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}
