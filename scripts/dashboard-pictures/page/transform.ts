import { type DataFrame, standardTransformers, standardTransformersRegistry, transformDataFrame } from '@grafana/data';
import { firstValueFrom } from 'rxjs';
import type { PanelJson } from './dashboard-json.ts';

standardTransformersRegistry.setInit(() =>
  // Some have two names.
  [...new Set(Object.values(standardTransformers))].map((one) => ({
    id: one.id,
    name: one.name,
    transformation: async () => one as never,
    editor: () => null,
    imageDark: '',
    imageLight: '',
  })),
);

/** Applies the transformations of a panel. */
export function transform({ transformations = [] }: PanelJson, frames: DataFrame[]): Promise<DataFrame[]> {
  for (const { id } of transformations) {
    if (!standardTransformersRegistry.getIfExists(id)) throw new Error(`no transformation ${id}`);
  }
  return firstValueFrom(transformDataFrame([...transformations], frames));
}
