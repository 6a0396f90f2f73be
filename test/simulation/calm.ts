import { isDeepStrictEqual } from 'node:util';
import { USUAL } from './exporter-setting.ts';
import { NO_FAULTS } from './service/network.ts';
import { calmSetting } from './service/setting.ts';
import type { Setting } from './story.ts';

/** The simplest world, but for what is given. */
export function calmWorld(changes: Partial<Setting> = {}): Setting {
  return {
    service: calmSetting(),
    network: { latency: { low: 50, high: 50 }, faults: NO_FAULTS },
    exporter: USUAL,
    ...changes,
  };
}

/** No seed is simpler than another, and how often is rendered follows from the length of the story. */
function calmLike({ service: { seed }, exporter: { refreshMs } }: Setting): Setting {
  return calmWorld({ service: calmSetting({ seed }), exporter: { ...USUAL, refreshMs } });
}

const PARTS = ['service', 'network', 'exporter'] as const;

/** Simpler worlds than this one: a whole part as it is in the simplest world, a field of it, or fewer of something. */
export function simplerSettings(setting: Setting): Setting[] {
  const calm = calmLike(setting);
  const { service, exporter } = setting;
  const candidates: Setting[] = [
    calm,
    ...PARTS.map((part) => ({ ...setting, [part]: calm[part] })),
    ...PARTS.flatMap((part) =>
      differing(setting[part], calm[part]).map((value) => ({ ...setting, [part]: { ...setting[part], ...value } })),
    ),
    ...(exporter.replicas === 3 ? [{ ...setting, exporter: { ...exporter, replicas: 2 as const } }] : []),
    ...fewer(service.machines).map((machines) => ({ ...setting, service: { ...service, machines } })),
    ...fewer(exporter.watch).map((watch) => ({ ...setting, exporter: { ...exporter, watch } })),
  ];
  return candidates.filter((one) => !isDeepStrictEqual(one, setting));
}

/** What is not as it is in the simplest world, such as `service.plan {"perSecond":1}`. */
export function unusual(setting: Setting): string[] {
  const calm = calmLike(setting);
  return PARTS.flatMap((part) => {
    const own: object = setting[part];
    return differing(own, calm[part])
      .flatMap(Object.keys)
      .map((name) => {
        const value = Object.entries(own).find(([key]) => key === name)?.[1];
        return `${part}.${name} ${value === undefined ? 'as usual' : JSON.stringify(value)}`;
      });
  });
}

/** The calm value of each field that differs; undefined where a calm world has no such field. */
function differing<T extends object>(own: T, calm: T): Partial<T>[] {
  const names = [...new Set([...Object.keys(own), ...Object.keys(calm)])] as (keyof T)[];
  return names
    .filter((name) => !isDeepStrictEqual(own[name], calm[name]))
    .map((name) => ({ [name]: calm[name] }) as Partial<T>);
}

function fewer<T>(all: readonly T[]): T[][] {
  if (all.length < 2) return all.length === 0 ? [] : [[]];
  const half = Math.ceil(all.length / 2);
  return [all.slice(0, half), all.slice(half), all.slice(1), all.slice(0, -1)];
}
