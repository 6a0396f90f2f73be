import { type DataFrame, type Field, FieldType } from '@grafana/data';
import type { TargetJson } from './dashboard-json.ts';
import type { Series } from './prometheus.ts';

/** One frame per series, as Grafana's data source makes them. @param stepMs Distance of points; longer ones are gaps */
export function seriesFrames(target: TargetJson, found: readonly Series[], stepMs?: number): DataFrame[] {
  return found.map(({ metric, values }) => {
    const { __name__, ...labels } = metric;
    const name = nameOf(target, metric);
    const time = field(
      'Time',
      FieldType.time,
      values.map(([at]) => at * 1000),
    );
    const value = field(
      'Value',
      FieldType.number,
      values.map(([, text]) => Number(text)),
    );
    return {
      refId: target.refId,
      name,
      length: values.length,
      fields: [
        { ...time, config: stepMs === undefined ? {} : { interval: stepMs } },
        { ...value, labels, config: { displayNameFromDS: name } },
      ],
    };
  });
}

/** One frame with a row per series and a column per label. @param valueName `Value`, or `Value #A` of several queries */
export function tableFrame(target: TargetJson, found: readonly Series[], valueName: string): DataFrame {
  const names = [...new Set(found.flatMap(({ metric }) => Object.keys(metric)))].filter((name) => name !== '__name__');
  const rows = found.flatMap(({ metric, values }) => values.map(([at, value]) => ({ metric, at, value })));
  const labels = names.sort().map((name) =>
    field(
      name,
      FieldType.string,
      rows.map(({ metric }) => metric[name] ?? ''),
    ),
  );
  const fields = [
    field(
      'Time',
      FieldType.time,
      rows.map(({ at }) => at * 1000),
    ),
    ...labels,
    field(
      valueName,
      FieldType.number,
      rows.map(({ value }) => Number(value)),
    ),
  ];
  return { refId: target.refId, length: rows.length, fields };
}

function field(name: string, type: FieldType, values: unknown[]): Field {
  return { name, type, config: {}, values };
}

function nameOf({ legendFormat }: TargetJson, { __name__ = '', ...labels }: Series['metric']): string {
  if (legendFormat && legendFormat !== '__auto') {
    return legendFormat.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label: string) => labels[label] ?? '');
  }
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return pairs.length > 0 ? `${__name__}{${pairs.join(', ')}}` : __name__ || 'Value';
}
