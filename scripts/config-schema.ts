import { z } from 'zod';
import { ConfigFile } from '../src/sources/registry.ts';
import { DURATION_PATTERN } from '../src/toolkit/lib/duration.ts';

/** The config file as JSON Schema, from the schema that the program itself uses. */

/** The keywords of JSON Schema that are used here. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  /** Of a mapping with names of the user. */
  readonly additionalProperties?: JsonSchema | boolean;
  readonly anyOf?: readonly JsonSchema[];
  /** The message that editors show for a wrong value. */
  readonly errorMessage?: string;
}

const NOTHING_TAKES = Symbol('nothing takes this');

function isMapping({ properties, anyOf }: JsonSchema): boolean {
  return properties !== undefined || (anyOf?.every((one) => one.properties || one.type === 'null') ?? false);
}

/** The expectation in the program's own message about a wrong value; undefined if the message is one of zod. */
function expectedOf(schema: z.core.$ZodType, { type, pattern }: JsonSchema): string | undefined {
  const messageOf = (value: unknown) => z.safeParse(schema, value).error?.issues.at(-1)?.message;
  const ofAnything = messageOf(NOTHING_TAKES);
  // A value of the right type out of bounds gets the message with the bounds.
  const ofBounds =
    type === 'number' || type === 'integer'
      ? [-1, 1e300].map(messageOf).toSorted((a = '', b = '') => b.length - a.length)[0]
      : pattern?.endsWith(`${DURATION_PATTERN}`) && messageOf('0ms');
  const message = ofBounds || ofAnything;
  return message?.startsWith('Invalid') || message?.startsWith('Too') ? undefined : message?.replace(/^expected /, '');
}

/** Any text may contain `${NAME}`. */
const VARIABLE = String.raw`\$\{[A-Za-z_]\w*\}`;

/** The same schema, which also accepts variables where it restricts texts. */
function withVariables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withVariables);
  if (typeof value !== 'object' || value === null) return value;
  const schema = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withVariables(part)]));
  if (typeof schema['pattern'] === 'string') schema['pattern'] = `(?:${schema['pattern']})|${VARIABLE}`;
  if (!Array.isArray(schema['enum'])) return schema;
  const { type, enum: words, errorMessage, ...rest } = schema;
  return {
    ...rest,
    errorMessage,
    anyOf: [
      { type, enum: words },
      { type: 'string', pattern: VARIABLE },
    ],
  };
}

/** The schema of the file after variables were replaced. */
export function plainSchema(): JsonSchema {
  const { required: _sections, ...schema } = z.toJSONSchema(ConfigFile, {
    // The newest draft that most editors support.
    target: 'draft-07',
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // For a mapping, the message of the editor is better: it names the unknown key.
      if (isMapping(jsonSchema as JsonSchema)) return;
      const expected = expectedOf(zodSchema, jsonSchema as JsonSchema);
      if (expected !== undefined) jsonSchema['errorMessage'] = `expected ${expected}`;
    },
  });
  return schema as JsonSchema;
}

/** The content of config.schema.json. */
export function configSchema(): object {
  return withVariables(plainSchema()) as object;
}
