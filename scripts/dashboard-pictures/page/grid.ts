import type { PanelJson } from './dashboard-json.ts';

// Grafana's grid: 24 columns, 30 px a row, 8 px between panels.
const COLUMNS = 24;
const ROW = 30;
const GAP = 8;

/** The place of a panel in pixels. @param width Of the whole grid */
export function placeOf({ gridPos: { x, y, w, h } }: PanelJson, width: number) {
  const column = (width - GAP * (COLUMNS - 1)) / COLUMNS;
  return {
    left: x * (column + GAP),
    top: y * (ROW + GAP),
    width: w * column + (w - 1) * GAP,
    height: h * ROW + (h - 1) * GAP,
  };
}

/** The height of the grid in pixels. */
export function heightOf(panels: readonly PanelJson[]): number {
  return Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h)) * (ROW + GAP);
}
