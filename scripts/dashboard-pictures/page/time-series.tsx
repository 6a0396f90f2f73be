import { FieldType, type GrafanaTheme2 } from '@grafana/data';
import { TimeSeries as Graph, type UPlotConfigBuilder, useTheme2 } from '@grafana/ui';
import { TIME_ZONE } from './given.ts';
import type { Mark } from './marks.ts';
import type { PanelProps } from './panel-props.ts';

/** Like TimeSeriesPanel of Grafana. */
export function TimeSeries({ panel, frames, marks, timeRange, width, height }: PanelProps) {
  const theme = useTheme2();
  const drawable = frames.filter(
    ({ fields, length }) => length > 0 && fields.some(({ type }) => type === FieldType.number),
  );
  if (drawable.length === 0) return <NoData />;
  return (
    <Graph
      frames={drawable}
      structureRev={1}
      timeRange={timeRange}
      timeZone={TIME_ZONE}
      width={width}
      height={height}
      legend={{ calcs: [], ...panel.options.legend }}
      options={panel.options}
    >
      {(builder) => {
        drawMarks(builder, marks, theme);
        return null;
      }}
    </Graph>
  );
}

export function NoData({ text = 'No data' }: { readonly text?: string }) {
  const { colors } = useTheme2();
  return (
    <div
      style={{
        height: '100%',
        display: 'flex',
        alignItems: 'center',
        justifyContent: 'center',
        color: colors.text.secondary,
      }}
    >
      {text}
    </div>
  );
}

const drawn = new WeakSet<UPlotConfigBuilder>();

/** Annotations, as Grafana draws them: a dashed line with a triangle below. */
function drawMarks(builder: UPlotConfigBuilder, marks: readonly Mark[], theme: GrafanaTheme2): void {
  if (drawn.has(builder)) return;
  drawn.add(builder);
  builder.addHook('draw', ({ ctx, bbox, valToPos }) => {
    ctx.save();
    for (const { time, color } of marks) {
      const x = Math.round(valToPos(time, 'x', true));
      const bottom = bbox.top + bbox.height;
      ctx.strokeStyle = ctx.fillStyle = theme.visualization.getColorByName(color);
      ctx.lineWidth = 2;
      ctx.setLineDash([5, 5]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bottom);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath();
      ctx.moveTo(x - 5, bottom + 5);
      ctx.lineTo(x, bottom);
      ctx.lineTo(x + 5, bottom + 5);
      ctx.fill();
    }
    ctx.restore();
  });
}
