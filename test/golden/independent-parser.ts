import { join } from 'node:path';
import type { Format } from '../../src/toolkit/exposition/encode.ts';
import type { ReadSample } from '../support/exposition/exposition-parser.ts';
import { PYTHON_PARSERS, runTool } from '../support/tools/tools.ts';

const SCRIPT = join(import.meta.dirname, 'parse_exposition.py');

export type ParsedSample = Omit<ReadSample, 'timestamp'>;

export interface ParsedFamily {
  /** The name without `_total`, in both formats. */
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly help: string;
  readonly samples: readonly ParsedSample[];
}

const NUMBERS: Readonly<Record<string, number>> = {
  inf: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  nan: Number.NaN,
};

/** Reads an exposition with the Python parsers of Prometheus, which share no code with this project. */
export function parseIndependently(exposition: string, format: Format): ParsedFamily[] {
  const { status, stdout, stderr } = runTool(PYTHON_PARSERS, [SCRIPT, format], exposition);
  if (status !== 0) throw new Error(`not parsed as ${format}: ${stderr}`);
  const families: (ParsedFamily & { samples: (ParsedSample & { value: string | number })[] })[] = JSON.parse(stdout);
  return families.map((family) => ({
    ...family,
    samples: family.samples.map((sample) => ({ ...sample, value: NUMBERS[sample.value] ?? Number(sample.value) })),
  }));
}
