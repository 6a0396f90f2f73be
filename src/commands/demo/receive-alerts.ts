import { visible } from '../../lib/text.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { SandboxAnswer, SandboxRequest } from '../../sandbox/answer.ts';
import { alertLines } from './alert-lines.ts';
import { readAlertMessage } from './alert-message.ts';

/** The path at which the demo receives the alerts of Alertmanager. */
export const ALERTS_PATH = '/alerts';

/** Prints the alerts that Alertmanager posts; undefined for any other path. */
export function receiveAlerts(
  { method, path, body }: Pick<SandboxRequest, 'method' | 'path' | 'body'>,
  now: UnixMs,
  print: (text: string) => void,
): SandboxAnswer | undefined {
  if (path.split('?', 1)[0] !== ALERTS_PATH) return undefined;
  if (method !== 'POST') return { ...text(405, `${ALERTS_PATH} requires POST`), headers: { ...TEXT, allow: 'POST' } };
  const message = readAlertMessage(body);
  if (typeof message === 'string') return text(400, `not an Alertmanager message: ${visible(message.slice(0, 200))}`);
  for (const line of alertLines(message, now)) print(`${line}\n`);
  return text(200, 'printed');
}

const TEXT = { 'content-type': 'text/plain; charset=utf-8' };

function text(status: number, body: string): SandboxAnswer {
  return { status, headers: TEXT, body: `${body}\n` };
}
