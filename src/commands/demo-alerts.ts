import * as z from 'zod';
import { visible } from '../lib/text.ts';
import type { UnixMs } from '../lib/time.ts';
import { type SandboxAnswer, type SandboxRequest, textAnswer } from '../sandbox/answer.ts';

/** The path at which the demo receives the alerts of Alertmanager. */
export const ALERTS_PATH = '/alerts';

/** Prints the alerts that Alertmanager posts; undefined for any other path. */
export function receiveAlerts(
  { method, path, body }: Pick<SandboxRequest, 'method' | 'path' | 'body'>,
  now: UnixMs,
  print: (text: string) => void,
): SandboxAnswer | undefined {
  if (path.split('?', 1)[0] !== ALERTS_PATH) return undefined;
  if (method !== 'POST') {
    const refusal = textAnswer(405, `${ALERTS_PATH} requires POST`);
    return { ...refusal, headers: { ...refusal.headers, allow: 'POST' } };
  }
  const message = readAlertMessage(body);
  if (typeof message === 'string')
    return textAnswer(400, `not an Alertmanager message: ${visible(message.slice(0, 200))}`);
  for (const line of alertLines(message, now)) print(`${line}\n`);
  return textAnswer(200, 'printed');
}

const Texts = z.record(z.string(), z.string()).default({});

/**
 * The printed fields of a message from Alertmanager to a webhook
 * (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).
 */
const AlertMessage = z.object({
  alerts: z.array(z.object({ status: z.enum(['firing', 'resolved']), labels: Texts, annotations: Texts })),
  /** Alerts that were left out because of `max_alerts`. */
  truncatedAlerts: z.int().nonnegative().default(0),
});
type AlertMessage = z.infer<typeof AlertMessage>;

/** The message, or the reason why the body is invalid. */
function readAlertMessage(body: string): AlertMessage | string {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    return 'expected JSON';
  }
  const { data, error } = AlertMessage.safeParse(document);
  if (data) return data;
  const [issue] = error.issues;
  return [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ');
}

const MAX_LINES = 100;
/** Longer names and texts are cut. Those of the shipped rules are shorter. */
const MAX = { name: 80, summary: 200, link: 200 };
/** The labels that say what an alert is about, after the chain. */
const SUBJECTS = ['machine', 'process', 'validator', 'source', 'endpoint'];

/**
 * A line for each alert, with the time of its arrival. The text is untrusted, so it must not contain terminal control
 * sequences.
 */
function alertLines({ alerts, truncatedAlerts }: AlertMessage, now: UnixMs): string[] {
  const time = new Date(now).toTimeString().slice(0, 'HH:MM:SS'.length);
  const lines = alerts.slice(0, MAX_LINES).map((alert) => `${time} ${lineOf(alert)}`);
  const more = alerts.length - lines.length + truncatedAlerts;
  return more > 0 ? [...lines, `${time} ALERT and ${more} more`] : lines;
}

function lineOf({ status, labels, annotations }: AlertMessage['alerts'][number]): string {
  const name = (label: string): string => shown(labels[label], MAX.name);
  const isResolved = status === 'resolved';
  // The summary of a resolved alert is that of the firing one: it would read as if it still fired.
  const { summary = '', runbook_url: link } = isResolved ? {} : annotations;
  const mentioned = summary.split(/[^\w.-]+/);
  const about = ['chain', ...SUBJECTS]
    .filter((label) => labels[label] && !mentioned.includes(labels[label]))
    .map((label) => (label === 'chain' ? name(label) : `${label} ${name(label)}`))
    .join(', ');
  const heading = [isResolved ? 'RESOLVED' : 'ALERT firing', name('severity'), name('alertname') || '(no name)'];
  const subject = summary && about && ` (${about})`;
  const text = summary ? shown(summary, MAX.summary) : about;
  const beginning = `${heading.filter(Boolean).join(' ')}${subject}${text && ':'}`;
  return [beginning, text, shown(link, MAX.link)].filter(Boolean).join(' ');
}

/** In one line, without control characters, and at most this long before they are escaped. */
function shown(text: string | undefined, max: number): string {
  const characters = [...(text ?? '').slice(0, 2 * max + 2).toWellFormed()];
  const isCut = characters.length > max;
  return visible(isCut ? `${characters.slice(0, max).join('')}...` : characters.join(''));
}
