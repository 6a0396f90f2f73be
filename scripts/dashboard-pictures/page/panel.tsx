import { PanelChrome } from '@grafana/ui';
import type { FC } from 'react';
import type { PanelProps } from './panel-props.ts';
import { Stat } from './stat.tsx';
import { Table } from './table.tsx';
import { Text } from './text.tsx';
import { TimeSeries } from './time-series.tsx';
import { Timeline } from './timeline.tsx';

const TYPES: Readonly<Record<string, FC<PanelProps>>> = {
  stat: Stat,
  'state-timeline': Timeline,
  table: Table,
  text: Text,
  timeseries: TimeSeries,
};

/** A panel in its frame. */
export function Panel(props: PanelProps) {
  const { panel, width, height } = props;
  if (panel.type === 'row') return <div className="section">⌄ {panel.title}</div>;
  const Type = TYPES[panel.type];
  if (!Type) throw new Error(`no panel ${panel.type}`);
  return (
    <PanelChrome
      title={panel.title ?? ''}
      width={width}
      height={height}
      displayMode={panel.transparent ? 'transparent' : 'default'}
    >
      {(innerWidth, innerHeight) => <Type {...props} width={innerWidth} height={innerHeight} />}
    </PanelChrome>
  );
}
