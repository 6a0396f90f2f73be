import { type DataFrame, rangeUtil } from '@grafana/data';
import { type Given, timeRange } from './given.ts';
import { heightOf, placeOf } from './grid.ts';
import type { Mark } from './marks.ts';
import { Panel } from './panel.tsx';
import { menus } from './variables.ts';

export interface DashboardProps {
  readonly given: Given;
  readonly frames: ReadonlyMap<number, DataFrame[]>;
  readonly marks: readonly Mark[];
  readonly width: number;
}

export function Dashboard({ given, frames, marks, width }: DashboardProps) {
  const { title, panels, time } = given.dashboard;
  const end = panels.find((panel) => panel.title === given.until);
  if (given.until !== undefined && !end) throw new Error(`${title} has no panel ${given.until}`);
  const shown = panels.filter(({ gridPos }) => !end || gridPos.y < end.gridPos.y);
  return (
    <main>
      <header>
        <h1>{title}</h1>
        <span>{menus(given)}</span>
        <span className="range">{rangeUtil.describeTimeRange({ from: time.from, to: 'now' })}</span>
      </header>
      <div className="grid" style={{ height: heightOf(shown) }}>
        {shown.map((panel) => {
          const place = placeOf(panel, width);
          return (
            <div key={panel.id} style={{ position: 'absolute', ...place }}>
              <Panel
                panel={panel}
                frames={frames.get(panel.id) ?? []}
                marks={marks}
                timeRange={timeRange(given)}
                width={place.width}
                height={place.height}
              />
            </div>
          );
        })}
      </div>
      <footer>{given.footer}</footer>
    </main>
  );
}
