import { TableCellHeight } from '@grafana/schema';
import { TableNG } from '@grafana/ui/unstable';
import type { PanelProps } from './panel-props.ts';
import { NoData } from './time-series.tsx';

/** Like TablePanel of Grafana. */
export function Table({ panel, frames, timeRange, width, height }: PanelProps) {
  const { options, fieldConfig } = panel;
  const frame = frames[options.frameIndex ?? 0];
  if (!frame || frame.length === 0) return <NoData text={fieldConfig?.defaults.noValue} />;
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      noHeader={!options.showHeader}
      showTypeIcons={options.showTypeIcons}
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
