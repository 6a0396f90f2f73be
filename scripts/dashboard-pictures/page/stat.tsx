import {
  type FieldDisplay,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  VizOrientation,
} from '@grafana/data';
import { BigValue, BigValueGraphMode, useTheme2, VizRepeater, type VizRepeaterRenderValueProps } from '@grafana/ui';
import { TIME_ZONE } from './given.ts';
import type { PanelProps } from './panel-props.ts';

type Alignment = ReturnType<typeof getDisplayValueAlignmentFactors>;

/** Like StatPanel of Grafana. */
export function Stat({ panel, frames, timeRange, width, height }: PanelProps) {
  const theme = useTheme2();
  const { options, fieldConfig = { defaults: {}, overrides: [] } } = panel;
  const values = getFieldDisplayValues({
    data: frames,
    fieldConfig,
    reduceOptions: options.reduceOptions,
    replaceVariables: (text) => text,
    sparkline: options.graphMode !== BigValueGraphMode.None,
    theme,
    timeZone: TIME_ZONE,
  });
  const renderValue = (props: VizRepeaterRenderValueProps<FieldDisplay, Alignment>) => {
    const { sparkline } = props.value;
    return (
      <BigValue
        value={props.value.display}
        count={props.count}
        sparkline={sparkline && { ...sparkline, timeRange }}
        alignmentFactors={values.length > 1 ? props.alignmentFactors : undefined}
        colorMode={options.colorMode}
        graphMode={options.graphMode}
        justifyMode={options.justifyMode}
        textMode={options.textMode}
        text={options.text}
        disableWideLayout={!options.wideLayout}
        width={props.width}
        height={props.height}
        theme={theme}
      />
    );
  };
  return (
    <VizRepeater
      getValues={() => values}
      getAlignmentFactors={getDisplayValueAlignmentFactors}
      renderValue={renderValue}
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
