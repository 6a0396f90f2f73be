import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import { check } from '../../src/commands/check.ts';
import { fingerprintOf } from '../../src/exporter/state.ts';
import { STATE_VERSION } from '../../src/facts/version.ts';
import { jsonLogger } from '../../src/toolkit/lib/log.ts';
import type { Mistake } from '../../src/toolkit/yaml/mistakes.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { defaultConfig } from '../support/runs/default-config.ts';

async function checkWith(ledger: Ledger, warnings: Mistake[] = []): Promise<string> {
  const config = { ...defaultConfig(), state: { dir: temporaryFolder(), redis: undefined } };
  writeFileSync(join(config.state.dir, 'ledger.json'), JSON.stringify({ version: STATE_VERSION, value: ledger }));
  return check({ config, key: 'key', log: jsonLogger('error'), warnings, now: Date.now() });
}

/** What `check` says of the limits if an exporter has left this ledger. */
async function limitsWith(ledger: Ledger): Promise<string> {
  const text = await checkWith(ledger);
  return text.slice(text.indexOf('Limits: '), text.indexOf('\n\nsource '));
}

it('prints warnings apart from mistakes', async () => {
  const warnings = [{ place: 'config.yaml', line: 2, path: 'machines.expected[0]', message: 'made up' }];
  expect(await checkWith(emptyLedger(), warnings)).toMatch(
    /^The configuration is valid\.\nWarning: config\.yaml:2: machines\.expected\[0\]: made up\n/,
  );
});

it('says that serve would not start in a state directory that cannot be made', async () => {
  const [config, file] = [defaultConfig(), join(temporaryFolder(), 'file')];
  writeFileSync(file, '');
  const given = { key: 'key', log: jsonLogger('error'), warnings: [], now: 0 };
  const state = { dir: join(file, 'state'), redis: undefined };
  const text = await check({ ...given, config: { ...config, state } });
  expect(text).toContain(`Warning: serve would not start: the state directory ${file}/state cannot be used: `);
});

it('says that nothing is known before the first answer', async () => {
  expect(await limitsWith(emptyLedger())).toBe(
    'Limits: not known, because the service has not answered yet. 1 request per second is assumed; run check --probe to ask the service. A trial has 1000 requests in 30 days.\n' +
      '  90 % for this exporter: 77760 requests a day.',
  );
});

it('warns if the service has refused this key, not another one', async () => {
  const ledger = emptyLedger();
  const refused = { ...ledger.key, standing: 'revoked', fingerprint: fingerprintOf('key') } as const;
  const warning = 'Warning: key: access is revoked (trial over or subscription cancelled). Renew';
  expect(await checkWith({ ...ledger, key: refused })).toContain(warning);
  expect(await checkWith({ ...ledger, key: { ...refused, fingerprint: 'other' } })).not.toContain('Warning');
});

it('says where the limits come from, and if the service reports none', async () => {
  const ledger = emptyLedger();
  const key = { ...ledger.key, standing: 'valid' } as const;
  expect(await limitsWith({ ...ledger, key })).toMatch(/^Limits: not reported by the service, 1 request per second/);
  const buckets = { '': { ...EMPTY_BUCKET, limits: { second: 2 }, remaining: { second: 0 } } };
  expect(await limitsWith({ ...ledger, key, buckets })).toBe(
    'Limits: as last reported to the exporter.\n' +
      '  bucket (name not known yet): 2 per second; 90 % for this exporter: 155520 requests a day.',
  );
});
