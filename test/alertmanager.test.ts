import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { unknownNames } from './support/exposed.ts';
import { AMTOOL, areMissing, runTool } from './support/tools.ts';

const DEPLOY = join(import.meta.dirname, '../deploy');
const FILE = join(DEPLOY, 'alertmanager/alertmanager.yml');
const TEXT = readFileSync(FILE, 'utf8');
const RULES = readFileSync(join(DEPLOY, 'prometheus/rules.yaml'), 'utf8');

const Inhibition = z.object({
  source_matchers: z.array(z.string()),
  target_matchers: z.array(z.string()),
  equal: z.array(z.string()),
});
const inhibitions = z.object({ inhibit_rules: z.array(Inhibition) }).parse(parse(TEXT)).inhibit_rules;

describe('alertmanager', () => {
  it.skipIf(areMissing(AMTOOL))('amtool accepts the example', () => {
    expect(runTool(AMTOOL, ['check-config', FILE], '')).toMatchObject({ status: 0 });
  });

  it('names only alerts and subjects that exist', () => {
    const matchers = inhibitions.flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]);
    const named = matchers.flatMap((matcher) => {
      const [, label = '', values = ''] = /^(\w+)=~?"(.*)"$/.exec(matcher) ?? [];
      return values.split('|').map((value) => [label, value] as const);
    });
    const unknown = named.filter(([label, value]) => {
      if (label === 'alertname') return !RULES.includes(`- alert: ${value}\n`);
      if (label === 'subject') return !RULES.includes(`subject: ${value}}`);
      if (label === 'source') return unknownNames(`beaconchain_source_up{source="${value}"}`).length > 0;
      return label !== 'instance';
    });
    expect(unknown).toEqual([]);
  });

  it('never lets one machine or exporter silence another', () => {
    for (const { equal } of inhibitions) expect(equal).toContain('job');
    const ofMachine = inhibitions.find(({ source_matchers: [first] }) => first === 'alertname="MachineOffline"');
    expect(ofMachine?.equal).toEqual(['job', 'instance', 'chain', 'machine']);
  });
});
