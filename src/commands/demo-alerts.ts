import * as z from 'zod';
import { type SandboxAnswer, type SandboxRequest, textAnswer } from '../sandbox/answer.ts';
import { visible } from '../toolkit/lib/text.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { cropped } from '../toolkit/lib/words.ts';

/** The path at which the demo receives the alerts of Alertmanager. */
export const ALERTS_PATH = '/alerts';

const Texts = z.record(z.string(), z.string()).default({});

/**
 * The printed fields of a message from Alertmanager to a webhook
 * (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).
 */
const AlertMessage = z.object({
  alerts: z.array(z.object({ status: z.enum(['firing', 'resolved']), labels: Texts, annotations: Texts })),
});
type Alert = z.infer<typeof AlertMessage>['alerts'][number];

/** Prints the alerts that Alertmanager posts, a line for each; undefined for any other path. */
export function receiveAlerts(
  { method, path, body }: Pick<SandboxRequest, 'method' | 'path' | 'body'>,
  now: UnixMs,
  print: (text: string) => void,
): SandboxAnswer | undefined {
  if (path !== ALERTS_PATH) return undefined;
  if (method !== 'POST') return textAnswer(405, `${ALERTS_PATH} requires POST`);
  const message = AlertMessage.safeParse(parsed(body));
  if (!message.success) return textAnswer(400, 'not a message of Alertmanager');
  const time = new Date(now).toTimeString().slice(0, 'HH:MM:SS'.length);
  for (const alert of message.data.alerts) print(`${time} ${lineOf(alert)}\n`);
  return textAnswer(200, 'printed');
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Longer texts are cut. Those of the shipped rules are shorter. */
const MAX_TEXT = 200;

function lineOf({ status, labels, annotations }: Alert): string {
  const name = [labels['severity'], labels['alertname']].map(shown).filter(Boolean).join(' ');
  const text = [annotations['summary'], annotations['runbook_url']].map(shown).filter(Boolean).join(' ');
  return `${status === 'firing' ? 'ALERT firing' : 'RESOLVED'} ${name}${text && ': '}${text}`;
}

/** The text is untrusted: in one line, and without control sequences of a terminal. */
function shown(text = ''): string {
  return visible(cropped(text.toWellFormed(), MAX_TEXT));
}
