import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '../files/files.ts';

/** A type as JSON has it: values instead of enums, and no marks of the package. */
const JSON_TYPE = `type Json<T> = T extends string ? \`\${T}\` : T extends readonly (infer E)[] ? Json<E>[] : T extends object
  ? { [K in keyof T as K extends \`_\${string}\` ? never : K]: Json<T[K]> } : T;`;
const COMPILE = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --types node --pretty false all.mts';

/** @returns what the compiler says about dashboards in Grafana's types; '' if nothing */
export function typeMistakes(dashboards: readonly string[]): string {
  const folder = temporaryFolder();
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const all = dashboards.map((text) => JSON.parse(text));
  const checks = all.flatMap((one) => [check('dashboard', 'Dashboard', one), ...one.panels.flatMap(openParts)]);
  writeFileSync(join(folder, 'all.mts'), [JSON_TYPE, ...checks].join('\n'));
  return spawnSync(resolve('node_modules/.bin/tsc'), COMPILE.split(' '), { cwd: folder, encoding: 'utf8' }).stdout;
}

/** What the type of a dashboard leaves open. */
// biome-ignore lint/suspicious/noExplicitAny: a panel of any kind
function openParts({ type, options, targets = [], fieldConfig }: any): string[] {
  const kind = type.replace('-', '');
  const properties = fieldConfig?.overrides.flatMap((one: { properties: object[] }) => one.properties) ?? [];
  return [
    ...(options ? [check(kind, 'Options', options)] : []),
    ...(fieldConfig?.defaults.custom ? [check(kind, 'FieldConfig', fieldConfig.defaults.custom)] : []),
    ...targets.map((target: object) => check('prometheus', 'Dataquery', target)),
    ...properties.flatMap(({ id, value }: { id: string; value: unknown }) => {
      // The package mistakes the links of a field for those of a dashboard.
      if (id === 'links') return [];
      const [, custom] = /^custom\.(.*)$/.exec(id) ?? [];
      return check(custom ? kind : 'dashboard', `FieldConfig['${custom ?? id}']`, value);
    }),
  ];
}

function check(part: string, type: string, value: unknown): string {
  return `(${JSON.stringify(value)}) satisfies Json<import('@grafana/grafana-foundation-sdk/${part}').${type}>;`;
}
