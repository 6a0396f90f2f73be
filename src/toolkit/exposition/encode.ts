import { readableText } from '../lib/text.ts';
import type { Family, FamilyHead, Labels, Sample } from './family.ts';

export type Format = 'text' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** Ends an OpenMetrics exposition; the text format has no end mark. */
export const OPENMETRICS_EOF = '# EOF\n';

/** Units of any exporter. A unit is recognized as the last part of a name, as OpenMetrics requires. */
export const BASE_UNITS: readonly string[] = ['seconds', 'bytes', 'ratio'];

/** The lines before the samples. */
export function encodeHead(family: FamilyHead, format: Format, units = BASE_UNITS): string {
  const { type, help } = family;
  if (format === 'text') return `# HELP ${family.name} ${escapeHelp(help)}\n# TYPE ${family.name} ${type}\n`;
  const name = type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
  const unit = name.slice(name.lastIndexOf('_') + 1);
  const unitLine = units.includes(unit) ? `# UNIT ${name} ${unit}\n` : '';
  return `# TYPE ${name} ${type}\n${unitLine}# HELP ${name} ${escapeQuoted(help)}\n`;
}

/** Encoded in a few milliseconds. */
export const PIECE_LINES = 500;

/**
 * The lines of the samples, the same in both formats, in pieces between which other work can run. `known` keeps the texts
 * of labels that several families have.
 */
export function* encodeSamples({ name, samples }: Family, known = new LabelTexts()): Generator<string> {
  for (let first = 0; first < samples.length; first += PIECE_LINES) {
    // Concatenation, because joining an array of this many lines takes 50 % longer.
    let out = '';
    for (const sample of samples.slice(first, first + PIECE_LINES))
      out += lineOf(name, sample, known.of(sample.labels));
    yield out;
  }
}

/** The texts of labels by identity. Large families mostly have the same labels. */
export class LabelTexts {
  readonly #texts = new Map<Labels, string>();

  of(labels: Labels): string {
    const known = this.#texts.get(labels);
    if (known !== undefined) return known;
    const text = encodeLabels(labels);
    this.#texts.set(labels, text);
    return text;
  }
}

/** @param name That of the family */
export function sampleLine(name: string, sample: Sample): string {
  return lineOf(name, sample, encodeLabels(sample.labels));
}

function lineOf(name: string, { suffix = '', value, at }: Sample, labels: string): string {
  return `${name}${suffix}${labels} ${encodeNumber(value)}${at === undefined ? '' : ` ${at}`}\n`;
}

function encodeLabels(labels: Labels): string {
  let out = '';
  for (const name in labels) out += `${out === '' ? '' : ','}${name}="${escapeQuoted(labels[name] as string)}"`;
  return out === '' ? '' : `{${out}}`;
}

function encodeNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
}

/** For labels, and for HELP in OpenMetrics. Most values need no change, and the test is far cheaper than the replacements. */
function escapeQuoted(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return text;
  return escapeHelp(readableText(text)).replace(/"/g, '\\"');
}
