import {
  type DataFrame,
  type DisplayValue,
  dateTimeFormat,
  type Field,
  type FieldDisplay,
  FieldType,
  getDisplayValueAlignmentFactors,
  getFieldDisplayName,
  getFieldDisplayValues,
  renderMarkdown,
  type TimeRange,
  VizOrientation,
} from '@grafana/data';
import { LegendDisplayMode, TableCellHeight } from '@grafana/schema';
import { BigValue, TimeSeries as Graph, measureText, useTheme2, VizLegend, VizRepeater } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import type { FC } from 'react';
import type { PanelJson } from './main.tsx';

/** What a panel draws, with its options applied to the fields. */
interface PanelProps {
  readonly panel: PanelJson;
  readonly frames: DataFrame[];
  readonly timeRange: TimeRange;
  readonly width: number;
  readonly height: number;
}

/** As the panels of Grafana, which are part of its server, by their type. */
export const PANELS: Readonly<Record<string, FC<PanelProps>>> = {
  stat: Stat,
  'state-timeline': Timeline,
  table: Table,
  text: Text,
  timeseries: TimeSeries,
};

function Stat({ panel, frames, timeRange, width, height }: PanelProps) {
  const theme = useTheme2();
  const { options, fieldConfig = { defaults: {}, overrides: [] } } = panel;
  const values = getFieldDisplayValues({
    data: frames,
    fieldConfig,
    reduceOptions: options.reduceOptions,
    replaceVariables: (text) => text,
    sparkline: options.graphMode !== 'none',
    theme,
    timeZone: 'utc',
  });
  return (
    <VizRepeater<FieldDisplay, ReturnType<typeof getDisplayValueAlignmentFactors>>
      getValues={() => values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={({ value, alignmentFactors, ...place }) => (
        <BigValue
          {...options}
          value={value.display}
          count={place.count}
          sparkline={value.sparkline && { ...value.sparkline, timeRange }}
          alignmentFactors={values.length > 1 ? alignmentFactors : undefined}
          disableWideLayout={!options.wideLayout}
          width={place.width}
          height={place.height}
          theme={theme}
        />
      )}
      width={width}
      height={height}
      source={frames}
      itemSpacing={3}
      renderCounter={0}
      autoGrid
      orientation={options.orientation ?? VizOrientation.Auto}
    />
  );
}

function Table({ panel, frames, timeRange, width, height }: PanelProps) {
  const { options, fieldConfig } = panel;
  const [frame] = frames;
  if (!frame || frame.length === 0) return <NoData text={fieldConfig?.defaults.noValue} />;
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      noHeader={!options.showHeader}
      cellHeight={options.cellHeight ?? TableCellHeight.Sm}
      sortBy={options.sortBy}
      timeRange={timeRange}
      fieldConfig={fieldConfig}
      enableVirtualization={false}
      structureRev={1}
      resizable
    />
  );
}

function Text({ panel }: PanelProps) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: the text is that of the dashboard.
  return <div className="markdown-html" dangerouslySetInnerHTML={{ __html: renderMarkdown(panel.options.content) }} />;
}

function TimeSeries({ panel, frames, timeRange, width, height }: PanelProps) {
  const drawable = frames.filter(
    ({ fields, length }) => length > 0 && fields.some(({ type }) => type === FieldType.number),
  );
  if (drawable.length === 0) return <NoData />;
  return (
    <Graph
      frames={drawable}
      structureRev={1}
      timeRange={timeRange}
      timeZone="utc"
      width={width}
      height={height}
      legend={{ calcs: [], ...panel.options.legend }}
      options={panel.options}
    />
  );
}

function NoData({ text = 'No data' }: { readonly text?: string | undefined }) {
  return <div className="no-data">{text}</div>;
}

const AXIS = 24;
const LEGEND = 28;
const FONT_SIZE = 12;
const HOUR = 3_600_000;

/** A row per series. The label of an axis is at each full hour, or at each third or twelfth one. */
function Timeline({ panel, frames, timeRange, width, height }: PanelProps) {
  const theme = useTheme2();
  const rows = frames.flatMap((frame) => {
    const [time, value] = frame.fields;
    return time && value ? [{ name: getFieldDisplayName(value, frame, frames), blocks: blocksOf(time, value) }] : [];
  });
  if (rows.length === 0) return <NoData text={panel.fieldConfig?.defaults.noValue} />;
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const left = 16 + Math.max(...rows.map(({ name }) => measureText(name, FONT_SIZE).width));
  const x = (at: number): number => left + ((Math.max(at, from) - from) / (to - from)) * (width - left - 8);
  const area = height - AXIS - LEGEND;
  const share = area / rows.length;
  const bar = share * (panel.options.rowHeight ?? 0.9);
  const opacity = (panel.fieldConfig?.defaults.custom?.fillOpacity ?? 70) / 100;
  const distance = HOUR * ([1, 3].find((hours) => (to - from) / hours <= 8 * HOUR) ?? 12);
  const first = Math.ceil(from / distance) * distance;
  const ticks = Array.from({ length: Math.floor((to - first) / distance) + 1 }, (_, i) => first + i * distance);
  const states = new Map(rows.flatMap(({ blocks }) => blocks.map(({ shown }) => [shown.text, shown.color ?? ''])));
  const label = { fontFamily: theme.typography.fontFamily, fontSize: FONT_SIZE, fill: theme.colors.text.primary };
  return (
    <div style={{ width, height }}>
      <svg width={width} height={area + AXIS} role="img">
        <title>{panel.title}</title>
        {rows.map(({ name, blocks }, row) => (
          <g key={name} transform={`translate(0 ${row * share + (share - bar) / 2})`}>
            <text x={left - 8} y={bar / 2 + 4} textAnchor="end" {...label}>
              {name}
            </text>
            {blocks.map(({ start, end, shown: { text, color } }) => (
              <g key={start}>
                <rect x={x(start)} width={x(end) - x(start)} height={bar} fill={color} fillOpacity={opacity} />
                {x(end) - x(start) > 8 * text.length && (
                  <text x={x(start) + 6} y={bar / 2 + 4} {...label}>
                    {text}
                  </text>
                )}
              </g>
            ))}
          </g>
        ))}
        {ticks.map((at) => (
          <text key={at} x={x(at)} y={area + 18} textAnchor="middle" {...label}>
            {dateTimeFormat(at, { format: 'HH:mm', timeZone: 'utc' })}
          </text>
        ))}
      </svg>
      <VizLegend
        displayMode={LegendDisplayMode.List}
        placement="bottom"
        items={[...states].map(([text, color]) => ({ label: text, color, yAxis: 1 }))}
      />
    </div>
  );
}

interface Block {
  readonly start: number;
  end: number;
  readonly shown: DisplayValue;
}

/** Adjacent equal values are one block. A longer distance between points is a gap. */
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
