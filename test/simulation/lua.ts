import { type Expression, parse, type Statement } from 'luaparse';

/** What a script can hold. Nil is undefined; a table is a map, whose list begins at 1. */
export type LuaValue = undefined | boolean | number | string | LuaTable;
export interface LuaTable extends Map<LuaValue, LuaValue> {}

/** What a script gets from Redis. */
export interface ScriptInput {
  readonly keys: LuaTable;
  readonly args: LuaTable;
  call(...args: LuaValue[]): LuaValue;
}

export type Script = (input: ScriptInput) => LuaValue;

/** A fault in a script while it runs. */
export class LuaError extends Error {
  override readonly name = 'LuaError';
}

/**
 * Translates a script into JavaScript, so that the text that Redis runs also runs here, in a microsecond. It knows the part
 * of Lua that our scripts use, and refuses everything else instead of guessing.
 * @throws SyntaxError
 */
export function translate(text: string): Script {
  const { body } = parse(text, { luaVersion: '5.1', comments: false, encodingMode: 'pseudo-latin1' });
  return new Function('lua', 'input', `'use strict'; const { keys, args, call } = input;\n${block(body)}`).bind(
    undefined,
    RUNTIME,
  );
}

const GLOBALS: Readonly<Record<string, string>> = { KEYS: 'keys', ARGV: 'args', tonumber: 'lua.toNumber' };
const MEMBERS: Readonly<Record<string, string>> = {
  'redis.call': 'call',
  'math.floor': 'Math.floor',
  'math.max': 'Math.max',
  'string.format': 'lua.format',
};

function block(statements: readonly Statement[]): string {
  return statements.map(statement).join('\n');
}

function statement(node: Statement): string {
  switch (node.type) {
    case 'LocalStatement':
      return node.variables.map(({ name }, i) => `let $${name} = ${optional(node.init[i])};`).join(' ');
    case 'AssignmentStatement': {
      const values = node.init.map(expression);
      // All values are known before the first is assigned.
      const names = values.map((_, i) => `value${i}`);
      const assigned = node.variables.map((target, i) => assignment(target, names[i] ?? 'undefined'));
      return `{ const [${names.join(', ')}] = [${values.join(', ')}]; ${assigned.join(' ')} }`;
    }
    case 'CallStatement':
      return `${expression(node.expression)};`;
    case 'ReturnStatement':
      if (node.arguments.length > 1) throw new SyntaxError('a script that returns several values');
      return `return ${optional(node.arguments[0])};`;
    case 'FunctionDeclaration': {
      if (node.identifier?.type !== 'Identifier' || !node.isLocal)
        throw new SyntaxError('a function that is not local');
      const parameters = node.parameters.map(expression).join(', ');
      return `function $${node.identifier.name}(${parameters}) { ${block(node.body)} }`;
    }
    case 'IfStatement':
      return node.clauses
        .map((clause) =>
          clause.type === 'ElseClause'
            ? `{ ${block(clause.body)} }`
            : `if (lua.isTrue(${expression(clause.condition)})) { ${block(clause.body)} }`,
        )
        .join(' else ');
    case 'ForNumericStatement': {
      const name = `$${node.variable.name}`;
      const [start, end] = [expression(node.start), expression(node.end)];
      const step = node.step ? expression(node.step) : '1';
      return `for (let ${name} = ${start}, end = ${end}; ${name} <= end; ${name} += ${step}) { ${block(node.body)} }`;
    }
    default:
      throw new SyntaxError(`Lua that is not translated: ${node.type}`);
  }
}

function assignment(target: Expression, value: string): string {
  if (target.type === 'Identifier') return `${local(target.name)} = ${value};`;
  if (target.type !== 'IndexExpression') throw new SyntaxError(`an assignment to ${target.type}`);
  return `${expression(target.base)}.set(${expression(target.index)}, ${value});`;
}

function optional(node: Expression | undefined): string {
  return node ? expression(node) : 'undefined';
}

function local(name: string): string {
  return GLOBALS[name] ?? `$${name}`;
}

function expression(node: Expression): string {
  switch (node.type) {
    case 'Identifier':
      return local(node.name);
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
      return JSON.stringify(node.value);
    case 'NilLiteral':
      return 'undefined';
    case 'LogicalExpression':
      return `lua.${node.operator}(${expression(node.left)}, () => ${expression(node.right)})`;
    case 'UnaryExpression':
      return `${UNARY[node.operator]}(${expression(node.argument)})`;
    case 'BinaryExpression':
      return binary(node.operator, expression(node.left), expression(node.right));
    case 'CallExpression':
      return `${expression(node.base)}(${node.arguments.map(expression).join(', ')})`;
    case 'IndexExpression':
      return `${expression(node.base)}.get(${expression(node.index)})`;
    case 'MemberExpression': {
      const name = node.base.type === 'Identifier' ? `${node.base.name}.${node.identifier.name}` : '';
      const known = MEMBERS[name];
      if (known === undefined) throw new SyntaxError(`Lua that is not translated: .${node.identifier.name}`);
      return known;
    }
    case 'TableConstructorExpression':
      return `lua.list([${node.fields.map((field) => {
        if (field.type !== 'TableValue') throw new SyntaxError('a table with named fields');
        return expression(field.value);
      })}])`;
    default:
      throw new SyntaxError(`Lua that is not translated: ${node.type}`);
  }
}

const UNARY: Readonly<Record<string, string>> = { not: '!lua.isTrue', '#': 'lua.length', '-': '-lua.numeric' };
const COMPARED: Readonly<Record<string, string>> = { '==': '===', '~=': '!==' };

function binary(operator: string, left: string, right: string): string {
  const compared = COMPARED[operator];
  if (compared !== undefined) return `(${left} ${compared} ${right})`;
  if (operator === '..') return `lua.joined(${left}, ${right})`;
  if (/^[<>]=?$/.test(operator)) return `(lua.ordered(${left}) ${operator} lua.ordered(${right}))`;
  if (/^[-+*/]$/.test(operator)) return `(lua.numeric(${left}) ${operator} lua.numeric(${right}))`;
  throw new SyntaxError(`Lua that is not translated: ${operator}`);
}

export function list(values: readonly LuaValue[]): LuaTable {
  return new Map(values.map((value, i) => [i + 1, value]));
}

function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false;
}

/** As strtod reads it. */
function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const text = value.trim().toLowerCase();
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(text)) return Number(text);
  const [, sign, word = ''] = /^([+-]?)(inf(?:inity)?|nan|0x[\da-f]+)$/.exec(text) ?? [];
  if (word === '') return undefined;
  const size = word.startsWith('inf') ? Number.POSITIVE_INFINITY : Number(word);
  return sign === '-' ? -size : size;
}

/** Lua calculates with text that is a number, but does not compare it. */
function numeric(value: LuaValue): number {
  const number = toNumber(value);
  if (number === undefined) throw new LuaError(`attempt to perform arithmetic on ${typeof value}`);
  return number;
}

function ordered(value: LuaValue): number {
  if (typeof value !== 'number') throw new LuaError(`attempt to compare ${typeof value}`);
  return value;
}

function joined(a: LuaValue, b: LuaValue): string {
  if (typeof a !== 'string' || typeof b !== 'string') throw new LuaError('attempt to concatenate what is no text');
  return a + b;
}

function length(table: LuaTable): number {
  let size = table.size;
  while (size > 0 && table.get(size) === undefined) size -= 1;
  return size;
}

/** C rounds a half to the even number. */
function format(how: string, value: LuaValue): string {
  if (how !== '%.0f') throw new LuaError(`a format that is not known: ${how}`);
  const number = numeric(value);
  const below = Math.floor(number);
  const isHalf = number - below === 0.5;
  return String(isHalf ? below + (below % 2) : Math.round(number));
}

const RUNTIME = {
  isTrue,
  toNumber,
  numeric,
  ordered,
  joined,
  length,
  format,
  list,
  and: (left: LuaValue, right: () => LuaValue): LuaValue => (isTrue(left) ? right() : left),
  or: (left: LuaValue, right: () => LuaValue): LuaValue => (isTrue(left) ? left : right()),
};
