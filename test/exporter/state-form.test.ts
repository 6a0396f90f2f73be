import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { Ledger } from '../../src/budget/ledger.ts';
import { FIRST_START, FirstStart, LEDGER } from '../../src/exporter/state.ts';
import { STATE_VERSION } from '../../src/facts/version.ts';
import { entrySchema, sourceId } from '../../src/scheduler/entry.ts';
import { ConfigFile, sourcesOf } from '../../src/sources/registry.ts';

/** The form of all documents in this version. The exporter takes a document of another form for damaged. */
const FORM = { version: 9, form: 'df59b0d768d1d1cc' };

it('STATE_VERSION changes whenever the form of a document changes', () => {
  const sources = sourcesOf(ConfigFile.parse({ validators: { watch: [1] } }));
  const documents: (readonly [string, z.ZodType])[] = [
    [LEDGER, Ledger],
    [FIRST_START, FirstStart],
    ...sources.map((source) => [sourceId(source), entrySchema(source)] as const),
  ];
  const forms = documents.map(([name, schema]) => [
    name,
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
  ]);
  const form = hash('sha256', JSON.stringify(forms)).slice(0, 16);
  const version = form === FORM.form ? FORM.version : FORM.version + 1;
  const help = `STATE_VERSION in src/facts/version.ts must be ${version}, and here: const FORM = { version: ${version}, form: '${form}' };`;
  expect({ version: STATE_VERSION, form }, help).toEqual(FORM);
});
