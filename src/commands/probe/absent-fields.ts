import * as z from 'zod';
import { isObject } from '../../lib/is-object.ts';

/**
 * Pure. The fields that a schema reads and that none of the values has, such as `range.epoch` or `data[].slot`. A null is
 * a value. Nothing is known of the items of an empty list.
 */
export function absentFields(schema: z.core.$ZodType, values: readonly unknown[], field = ''): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return absentFields(schema.unwrap(), values, field);
  }
  if (schema instanceof z.ZodPipe) return absentFields(schema.in, values, field);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => absentFields(option, values, field));
  if (schema instanceof z.ZodArray)
    return absentFields(schema.element, values.filter(Array.isArray).flat(), `${field}[]`);
  if (!(schema instanceof z.ZodObject)) return [];
  const objects = values.filter(isObject);
  if (objects.length === 0) return [];
  return Object.entries(schema.shape).flatMap(([name, member]) => {
    const path = field === '' ? name : `${field}.${name}`;
    const present = objects.filter((object) => Object.hasOwn(object, name));
    if (present.length === 0) return [path];
    return absentFields(
      member,
      present.map((object) => object[name]),
      path,
    );
  });
}

/**
 * Whether an answer may leave this field out: the lists and the cursor of a page, and zeros, false and empty strings in
 * records of machines (api-facts 1.1).
 */
export function mayBeAbsent(field: string): boolean {
  return /^(paging|data\.(system|validator|node)_metrics)\b/.test(field);
}
