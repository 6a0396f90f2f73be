import { CHAINS, SECONDS_PER_EPOCH } from '../lib/chain.ts';
import { formatDuration, MS_PER_MINUTE } from '../lib/duration.ts';
import { autoStaleAfter } from '../lib/stale-after.ts';
import type { Config } from './config.ts';
import type { Finding } from './mistakes.ts';

type Path = Finding['path'];

/** Pure. Settings that are valid but do not work as intended. The path of each locates its line in the file. */
export function doubtsIn(config: Config): Finding[] {
  const { machines, validators, dailyReturns, slashings, syncCommittee } = config;
  const watches = Object.values(validators.watch).some((ranges) => ranges.length > 0);
  const isIdle = [machines, dailyReturns, slashings, syncCommittee].every(({ enabled }) => !enabled) && !watches;
  if (isIdle) return [doubt([], 'all sources are disabled: nothing is polled')];
  return [...hostDoubts(config), ...machineDoubts(config), ...validatorDoubts(config), ...placeDoubts(config)];
}

function doubt(path: Path, message: string): Finding {
  return { path, message };
}

function idle(setting: string, section: string): Finding {
  return doubt([section, setting], `has no effect, because ${section}.enabled is false`);
}

function hostDoubts({ api, chains }: Config): Finding[] {
  const twice = (path: Path, url: string, added: string, example: string): Finding[] => {
    const { hostname, pathname } = new URL(url);
    const isService = /(^|\.)beaconcha\.in$/.test(hostname) && pathname !== '/';
    const surplus = isService ? pathname : added;
    if (!url.endsWith(surplus)) return [];
    return [doubt(path, `${added} is added to the URL, as in ${url}${added}${example}: leave out ${surplus}`)];
  };
  return [
    ...twice(['api', 'base_url'], api.baseUrl, '/api/v2', '/machine-metrics'),
    ...chains.flatMap(({ name, v1BaseUrl }, i) => {
      const path = ['chains', name, 'v1_base_url'];
      const same = chains.slice(0, i).find((other) => other.v1BaseUrl === v1BaseUrl);
      const [other] =
        Object.entries(CHAINS).find(([chain, one]) => chain !== name && one.v1BaseUrl === v1BaseUrl) ?? [];
      return [
        ...twice(path, v1BaseUrl, '/api/v1', '/epoch/latest/slots'),
        ...(same ? [doubt(path, `the same URL as for ${same.name}: both chains would show the same data`)] : []),
        ...(other && !same ? [doubt(path, `this is the host of ${other}, expected ${CHAINS[name].v1BaseUrl}`)] : []),
      ];
    }),
  ];
}

function machineDoubts({ machines }: Config): Finding[] {
  const { expected, include, exclude, max } = machines;
  if (!machines.enabled) {
    return (['expected', 'include', 'exclude'] as const).flatMap((list) =>
      machines[list].length > 0 ? [idle(list, 'machines')] : [],
    );
  }
  const at = (list: string, i: number, message: string): Finding => doubt(['machines', list, i], message);
  return [
    ...(['expected', 'include', 'exclude'] as const).flatMap((list) =>
      machines[list].flatMap((name, i) => {
        if (name.includes('*'))
          return [at(list, i, `"${name}" is treated as a name: only chain_rules supports patterns`)];
        if (name.split(',').filter((part) => part.trim() !== '').length > 1)
          return [at(list, i, `"${name}" is treated as one name: expected an entry for each name`)];
        return name === name.trim() ? [] : [at(list, i, `"${name}" starts or ends with a space`)];
      }),
    ),
    ...expected.flatMap((name, i) => {
      if (exclude.includes(name)) {
        return [at('expected', i, `"${name}" is also in machines.exclude: it has no series and no alerts`)];
      }
      if (include.length === 0 || include.includes(name)) return [];
      const why = 'it is shown anyway, because expected machines are always shown';
      return [at('expected', i, `"${name}" is not in machines.include: ${why}`)];
    }),
    ...include.flatMap((name, i) =>
      exclude.includes(name) ? [at('include', i, `"${name}" is also in machines.exclude: it is not shown`)] : [],
    ),
    ...(include.length > 0 && [...include, ...expected].every((name) => exclude.includes(name))
      ? [doubt(['machines', 'include'], 'all of these machines are in machines.exclude: no machine is shown')]
      : []),
    ...(max < new Set(expected).size
      ? [
          doubt(
            ['machines', 'max'],
            `${max} is less than the ${new Set(expected).size} machines in machines.expected: some of them are dropped`,
          ),
        ]
      : []),
    ...ruleDoubts(machines),
    ...ageDoubts(machines),
  ];
}

function ruleDoubts({ chainRules }: Config['machines']): Finding[] {
  return chainRules.flatMap(({ match }, i) =>
    chainRules.slice(0, i).some((earlier) => /^\*+$/.test(earlier.match) || earlier.match === match)
      ? [doubt(['machines', 'chain_rules', i], 'has no effect, because an earlier rule matches the same names')]
      : [],
  );
}

function ageDoubts({ intervalMs, staleAfterMs, forgetAfterMs }: Config['machines']): Finding[] {
  const isAuto = staleAfterMs === 'auto';
  const stale = isAuto ? autoStaleAfter(intervalMs) : staleAfterMs;
  const [interval, staleText, forget] = [intervalMs, stale, forgetAfterMs].map(formatDuration);
  return [
    ...(stale < intervalMs + MS_PER_MINUTE
      ? [
          doubt(
            ['machines', 'stale_after'],
            `${staleText} is less than machines.interval (${interval}) plus the minute between two pushes: values are withdrawn between polls`,
          ),
        ]
      : []),
    ...(forgetAfterMs < stale
      ? [
          doubt(
            ['machines', 'forget_after'],
            `${forget} is less than machines.stale_after (${isAuto ? 'auto, at least ' : ''}${staleText}): a machine that falls silent is forgotten before its values are stale`,
          ),
        ]
      : []),
  ];
}

/** Each chain has had about 2 million validators. */
const MANY_VALIDATORS = 20_000_000;

function validatorDoubts({ chains, slashings, validators }: Config): Finding[] {
  const { enabled, intervalMs, catchUpMs } = slashings;
  const { watch, status, syncCommittee } = validators;
  const watched = chains.flatMap(({ name }) => watch[name]);
  const most = watched.reduce((highest, { last }) => Math.max(highest, last), 0);
  return [
    ...(!enabled && watched.length > 0 && !status && !syncCommittee
      ? [doubt(['validators', 'watch'], 'has no effect, because every part is off and slashings.enabled is false')]
      : []),
    ...(most >= MANY_VALIDATORS
      ? [
          doubt(
            ['validators', 'watch'],
            `${most} is larger than any existing validator index: check for an extra digit`,
          ),
        ]
      : []),
    ...(enabled && catchUpMs < intervalMs && intervalMs > SECONDS_PER_EPOCH * 1000
      ? [
          doubt(
            ['slashings', 'catch_up'],
            `${formatDuration(catchUpMs)} is less than slashings.interval (${formatDuration(intervalMs)}): finalized epochs between polls are skipped`,
          ),
        ]
      : []),
  ];
}

function placeDoubts({ state, web: { telemetryPath, configFile } }: Config): Finding[] {
  const isPage = /^\/docs(\/|$)/.test(telemetryPath);
  const unexpanded = (path: Path, place: string | null): Finding[] => {
    const [, part] = /\/(~|\$\w+)(?:\/|$)/.exec(place ?? '') ?? [];
    const expected = part === '~' ? 'HOME' : part?.slice(1);
    return part === undefined ? [] : [doubt(path, `${part} is treated as part of a name: expected \${${expected}}`)];
  };
  return [
    ...(isPage
      ? [
          doubt(
            ['web', 'telemetry_path'],
            `${telemetryPath} is the path of another page, which the metrics would replace`,
          ),
        ]
      : []),
    ...(state.redis ? [] : unexpanded(['state', 'dir'], state.dir)),
    ...unexpanded(['web', 'config_file'], configFile),
  ];
}
