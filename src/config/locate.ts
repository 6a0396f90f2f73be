import type { ConfigDocument } from './document.ts';
import { type Finding, type Mistake, pathText } from './mistakes.ts';

/** Findings with their lines, in the order of the file, then those from elsewhere. Of several at one spot only the first. */
export function locate(file: string, document: ConfigDocument, findings: readonly Finding[]): Mistake[] {
  const inFile = new Map<string, Mistake>();
  const elsewhere: Mistake[] = [];
  for (const { path: keys, message, place, offset } of findings) {
    const path = pathText(keys);
    const position = offset === undefined ? document.positionOf(keys) : document.positionAt(offset);
    const spot = `${offset ?? ''} ${path}`;
    if (place !== undefined) elsewhere.push({ place, path, message });
    else if (!inFile.has(spot)) inFile.set(spot, { place: file, ...position, path, message });
  }
  return [...[...inFile.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0)), ...elsewhere];
}
