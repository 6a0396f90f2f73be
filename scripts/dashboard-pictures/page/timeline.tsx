import { type DisplayValue, dateTimeFormat, type Field, FieldType, getFieldDisplayName } from '@grafana/data';
import { LegendDisplayMode } from '@grafana/schema';
import { measureText, useTheme2, VizLegend } from '@grafana/ui';
import { TIME_ZONE } from './given.ts';
import type { PanelProps } from './panel-props.ts';
import { NoData } from './time-series.tsx';

const AXIS = 24;
const LEGEND = 28;
const FONT_SIZE = 12;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DISTANCES = [10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, DAY, 7 * DAY, 14 * DAY];
const MOST_TICKS = 8;

/** A state timeline. Grafana's own is part of its server, so this one is drawn by hand: a row per series. */
export function Timeline({ panel, frames, timeRange, width, height }: PanelProps) {
  const theme = useTheme2();
  const rows = frames.flatMap((frame) => {
    const time = frame.fields.find(({ type }) => type === FieldType.time);
    const values = frame.fields.filter(({ type }) => type !== FieldType.time);
    return values.flatMap((field) =>
      time ? [{ name: getFieldDisplayName(field, frame, frames), blocks: blocksOf(time, field) }] : [],
    );
  });
  if (rows.length === 0) return <NoData text={panel.fieldConfig?.defaults.noValue} />;
  const hasLegend = panel.options.legend?.showLegend ?? true;
  const from = timeRange.from.valueOf();
  const to = timeRange.to.valueOf();
  const gutter = 16 + Math.max(...rows.map(({ name }) => measureText(name, FONT_SIZE).width));
  const x = (at: number): number =>
    gutter + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (width - gutter - 8);
  const area = height - AXIS - (hasLegend ? LEGEND : 0);
  const share = area / rows.length;
  const bar = share * (panel.options.rowHeight ?? 0.9);
  const opacity = (panel.fieldConfig?.defaults.custom?.fillOpacity ?? 70) / 100;
  const format = to - from > 1.5 * DAY ? 'MM/DD' : 'HH:mm';
  const states = new Map(rows.flatMap(({ blocks }) => blocks.map(({ shown }) => [shown.text, shown.color ?? ''])));
  const label = { fontFamily: theme.typography.fontFamily, fontSize: FONT_SIZE, fill: theme.colors.text.primary };
  return (
    <div style={{ width, height }}>
      <svg width={width} height={area + AXIS} role="img">
        <title>{panel.title}</title>
        {rows.map(({ name, blocks }, row) => (
          <g key={name} transform={`translate(0 ${row * share + (share - bar) / 2})`}>
            <text x={gutter - 8} y={bar / 2 + 4} textAnchor="end" {...label}>
              {name}
            </text>
            {blocks.map(({ start, end, shown }) => (
              <g key={start}>
                <rect x={x(start)} width={x(end) - x(start)} height={bar} fill={shown.color} fillOpacity={opacity} />
                {panel.options.showValue !== 'never' && x(end) - x(start) > 8 * shown.text.length && (
                  <text x={x(start) + 6} y={bar / 2 + 4} {...label}>
                    {shown.text}
                  </text>
                )}
              </g>
            ))}
          </g>
        ))}
        {ticksOf(from, to).map((at) => (
          <text key={at} x={x(at)} y={area + 18} textAnchor="middle" {...label}>
            {dateTimeFormat(at, { format, timeZone: TIME_ZONE })}
          </text>
        ))}
      </svg>
      {hasLegend && (
        <VizLegend
          displayMode={LegendDisplayMode.List}
          placement="bottom"
          items={[...states].map(([text, color]) => ({ label: text, color, yAxis: 1 }))}
        />
      )}
    </div>
  );
}

/** Round times in this range. */
function ticksOf(from: number, to: number): number[] {
  const distance = DISTANCES.find((one) => (to - from) / one <= MOST_TICKS) ?? 30 * DAY;
  const first = Math.ceil(from / distance) * distance;
  return Array.from({ length: Math.floor((to - first) / distance) + 1 }, (_, i) => first + i * distance);
}

interface Block {
  readonly start: number;
  end: number;
  readonly shown: DisplayValue;
}

/** Equal values beside each other are one block. A longer distance between points is a gap. */
function blocksOf(time: Field, field: Field): Block[] {
  const step = time.config.interval ?? Number.POSITIVE_INFINITY;
  const blocks: Block[] = [];
  for (const [i, value] of field.values.entries()) {
    if (value === null || value === undefined) continue;
    const start: number = time.values[i];
    const end = Math.min(time.values[i + 1] ?? start + step, start + step);
    const shown = field.display?.(value) ?? { text: `${value}`, numeric: Number(value) };
    const last = blocks.at(-1);
    if (last && last.shown.text === shown.text && last.end >= start) last.end = end;
    else blocks.push({ start, end, shown });
  }
  return blocks;
}
