import type { DataTransformerConfig, FieldConfigSource } from '@grafana/data';

/** The fields of a dashboard's JSON that are drawn. */
export interface DashboardJson {
  readonly title: string;
  readonly time: { readonly from: string };
  readonly panels: readonly PanelJson[];
  readonly templating: { readonly list: readonly VariableJson[] };
  readonly annotations: { readonly list: readonly MarkJson[] };
}

export interface PanelJson {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly description?: string;
  readonly transparent?: boolean;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  /** The smallest step, such as 5m. */
  readonly interval?: string;
  readonly maxDataPoints?: number;
  readonly targets?: readonly TargetJson[];
  readonly transformations?: readonly DataTransformerConfig[];
  readonly fieldConfig?: FieldConfigSource;
  // biome-ignore lint/suspicious/noExplicitAny: each type of panel has its own.
  readonly options?: any;
}

export interface TargetJson {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat?: string;
  readonly instant?: boolean;
  readonly range?: boolean;
  readonly format?: string;
  readonly hide?: boolean;
}

export interface VariableJson {
  readonly name: string;
  readonly label?: string;
  readonly type: string;
  readonly allValue?: string;
  readonly query?: unknown;
}

export interface MarkJson {
  readonly name: string;
  readonly expr?: string;
  readonly iconColor: string;
  readonly useValueForTime?: boolean;
}
