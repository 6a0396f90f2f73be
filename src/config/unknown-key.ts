import type * as z from 'zod';
import { nearest } from './nearest.ts';

interface Section {
  /** The keys that lead to it, without the positions in lists; '' is the whole file. */
  readonly name: string;
  readonly keys: readonly string[];
}

/** What to write instead of a key that a section does not have. @param path The section. */
export function unknownKey(key: string, path: readonly PropertyKey[], file: z.core.$ZodType): string {
  const sections = sectionsOf(file, []);
  const name = path.filter((part) => typeof part === 'string').join('.');
  const keys = sections.find((section) => section.name === name)?.keys ?? [];
  const homes = sections.filter((section) => section.keys.includes(key));
  const [home] = homes.length === 1 ? homes : [];
  const meant = nearest(key, keys);
  const hints = [
    ...(home ? [`${key} belongs ${home.name === '' ? 'at the top level' : `under ${home.name}`}`] : []),
    ...(meant ? [`did you mean ${meant}?`] : []),
  ];
  return `unknown key, ${hints.join('; ') || `expected one of ${keys.join(', ')}`}`;
}

/** How zod defines a type, as far as it leads to other types. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>;
  readonly in?: z.core.$ZodType;
  readonly out?: z.core.$ZodType;
  readonly innerType?: z.core.$ZodType;
  readonly element?: z.core.$ZodType;
  readonly options?: readonly z.core.$ZodType[];
}

function sectionsOf(schema: z.core.$ZodType, path: readonly string[]): Section[] {
  const { shape, in: input, out, innerType, element, options = [] }: Definition = schema._zod.def;
  if (shape) {
    const inside = Object.entries(shape).flatMap(([key, value]) => sectionsOf(value, [...path, key]));
    return [{ name: path.join('.'), keys: Object.keys(shape) }, ...inside];
  }
  return [input, out, innerType, element, ...options].flatMap((inner) => (inner ? sectionsOf(inner, path) : []));
}
