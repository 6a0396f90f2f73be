import { visible } from '../../lib/text.ts';
import type { UnixMs } from '../../lib/time.ts';
import type { AlertMessage } from './alert-message.ts';

type Alert = AlertMessage['alerts'][number];

const MAX_LINES = 100;
/** Longer names and texts are cut. Those of the shipped rules are shorter. */
const MAX = { name: 80, summary: 200, link: 200 };
/** The labels that say what an alert is about, after the chain. */
const SUBJECTS = ['machine', 'process', 'validator', 'source', 'endpoint'];

/**
 * A line for each alert, with the time of its arrival. The text is untrusted, so it must not contain terminal control
 * sequences.
 */
export function alertLines({ alerts, truncatedAlerts }: AlertMessage, now: UnixMs): string[] {
  const time = new Date(now).toTimeString().slice(0, 'HH:MM:SS'.length);
  const lines = alerts.slice(0, MAX_LINES).map((alert) => `${time} ${lineOf(alert)}`);
  const more = alerts.length - lines.length + truncatedAlerts;
  return more > 0 ? [...lines, `${time} ALERT and ${more} more`] : lines;
}

function lineOf({ status, labels, annotations }: Alert): string {
  const name = (label: string): string => shown(labels[label], MAX.name);
  const isResolved = status === 'resolved';
  // The summary of a resolved alert is that of the firing one: it would read as if it still fired.
  const { summary = '', runbook_url: link } = isResolved ? {} : annotations;
  const told = summary.split(/[^\w.-]+/);
  const about = ['chain', ...SUBJECTS]
    .filter((label) => labels[label] && !told.includes(labels[label]))
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
