import {
  type DataFrame,
  type Field,
  type FieldConfig,
  FieldMatcherID,
  FieldType,
  fieldMatchers,
  type MatcherConfig,
  reduceField,
  ThresholdsMode,
} from '@grafana/data';
import { map, type Observable } from 'rxjs';

interface Options {
  readonly configRefId?: string;
  readonly applyTo?: MatcherConfig;
  readonly mappings?: readonly {
    readonly fieldName: string;
    readonly handlerKey?: string | null;
    readonly handlerArguments?: { readonly threshold?: { readonly color?: string } };
    readonly reducerId?: string;
  }[];
}

/**
 * "Config from query results": a query says the thresholds, the unit and so on of the other queries' fields. Grafana has
 * it in its server, not in its packages.
 */
export const configFromData = {
  id: 'configFromData',
  name: 'Config from query results',
  defaultOptions: {},
  operator: (options: Options) => (source: Observable<DataFrame[]>) =>
    source.pipe(map((data) => applied(options, data))),
};

function applied({ configRefId = 'config', applyTo, mappings = [] }: Options, data: DataFrame[]): DataFrame[] {
  const given = data.find(({ refId }) => refId === configRefId);
  if (!given) return data;
  const matches = fieldMatchers.get(applyTo?.id ?? FieldMatcherID.numeric).get(applyTo?.options);
  const others = data.filter((frame) => frame !== given);
  return others.map((frame) => ({
    ...frame,
    fields: frame.fields.map((field) => (matches(field, frame, data) ? configured(field, given, mappings) : field)),
  }));
}

function configured(field: Field, given: DataFrame, mappings: NonNullable<Options['mappings']>): Field {
  const config: FieldConfig = structuredClone(field.config);
  for (const source of given.fields) {
    const name = source.config.displayName ?? source.config.displayNameFromDS ?? source.name;
    const mapping = mappings.find(({ fieldName }) => fieldName === name || fieldName === source.name);
    const key = mapping ? mapping.handlerKey : source.name.toLowerCase();
    if (!key || (source.type === FieldType.time && !mapping)) continue;
    const reducer = mapping?.reducerId ?? 'lastNotNull';
    set(
      config,
      key,
      reduceField({ field: source, reducers: [reducer] })[reducer],
      mapping?.handlerArguments?.threshold?.color,
    );
  }
  return { ...field, config };
}

function set(config: FieldConfig, key: string, value: unknown, color = 'red'): void {
  if (value === null || value === undefined) return;
  if (key === 'threshold1') {
    config.thresholds ??= {
      mode: ThresholdsMode.Absolute,
      steps: [{ value: Number.NEGATIVE_INFINITY, color: 'green' }],
    };
    config.thresholds.steps.push({ value: Number(value), color });
  } else if (key === 'min' || key === 'max' || key === 'decimals') {
    config[key] = Number(value);
  } else if (key === 'unit' || key === 'displayName') {
    config[key] = `${value}`;
  }
}
