import type { DataFrame, TimeRange } from '@grafana/data';
import type { PanelJson } from './dashboard-json.ts';
import type { Mark } from './marks.ts';

/** What a panel draws, with its options applied to the fields. */
export interface PanelProps {
  readonly panel: PanelJson;
  readonly frames: DataFrame[];
  readonly marks: readonly Mark[];
  readonly timeRange: TimeRange;
  readonly width: number;
  readonly height: number;
}
