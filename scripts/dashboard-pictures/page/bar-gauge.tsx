import {
  type FieldDisplay,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  VizOrientation,
} from '@grafana/data';
import { BarGauge as Gauge, useTheme2, VizRepeater, type VizRepeaterRenderValueProps } from '@grafana/ui';
import { TIME_ZONE } from './given.ts';
import type { PanelProps } from './panel-props.ts';

type Alignment = ReturnType<typeof getDisplayValueAlignmentFactors>;

/** Like BarGaugePanel of Grafana. */
export function BarGauge({ panel, frames, width, height }: PanelProps) {
  const theme = useTheme2();
  const { options, fieldConfig = { defaults: {}, overrides: [] } } = panel;
  const getValues = () =>
    getFieldDisplayValues({
      data: frames,
      fieldConfig,
      reduceOptions: options.reduceOptions,
      replaceVariables: (text) => text,
      theme,
      timeZone: TIME_ZONE,
    });
  const renderValue = ({ value, orientation, ...props }: VizRepeaterRenderValueProps<FieldDisplay, Alignment>) => (
    <Gauge
      value={value.display}
      width={props.width}
      height={props.height}
      orientation={orientation}
      field={value.field}
      display={value.view?.getFieldDisplayProcessor(value.colIndex ?? 0)}
      text={options.text}
      theme={theme}
      itemSpacing={theme.spacing.gridSize}
      displayMode={options.displayMode}
      alignmentFactors={props.alignmentFactors}
      showUnfilled={options.showUnfilled}
      valueDisplayMode={options.valueMode}
      namePlacement={options.namePlacement}
    />
  );
  return (
    <VizRepeater
      getValues={getValues}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={renderValue}
      width={width}
      height={height}
      source={frames}
      itemSpacing={10}
      renderCounter={0}
      minVizHeight={options.minVizHeight}
      minVizWidth={options.minVizWidth}
      maxVizHeight={options.maxVizHeight}
      orientation={options.orientation ?? VizOrientation.Auto}
    />
  );
}
