import type * as z from 'zod';

/** What is read of a zod schema: the definition that it was made from. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly items?: readonly z.ZodType[];
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly values?: readonly unknown[];
  readonly valueType?: z.ZodType;
}

const PLAIN_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  int: 'number',
  boolean: 'boolean',
  null: 'null',
  bigint: 'number | bigint',
  unknown: 'unknown',
  never: 'never',
  custom: 'unknown',
};

export function zodTypeText(schema: z.ZodType): string {
  const def = schema._zod.def as unknown as Definition; // the union of all definitions names no common members
  const plain = PLAIN_TYPES[def.type];
  if (plain !== undefined) return plain;
  switch (def.type) {
    case 'object':
      return `{ ${Object.entries(def.shape ?? {})
        .map(([name, member]) => memberText(name, member))
        .join(' ')} }`;
    case 'array':
      return `readonly (${zodTypeText(required(def.element))})[]`;
    case 'tuple':
      return `readonly [${(def.items ?? []).map(zodTypeText).join(', ')}]`;
    case 'record':
      return `{ readonly [key: string]: ${zodTypeText(required(def.valueType))} }`;
    case 'union':
      return (def.options ?? []).map(zodTypeText).join(' | ');
    case 'nullable':
      return `${zodTypeText(required(def.innerType))} | null`;
    case 'optional':
      return `${zodTypeText(required(def.innerType))} | undefined`;
    case 'readonly':
    case 'default':
      return zodTypeText(required(def.innerType));
    case 'enum':
      return Object.values(def.entries ?? {})
        .map((value) => JSON.stringify(value))
        .join(' | ');
    case 'literal':
      return (def.values ?? []).map((value) => JSON.stringify(value)).join(' | ');
    default:
      throw new Error(`no type for a schema of type ${def.type}`);
  }
}

function memberText(name: string, member: z.ZodType): string {
  const isOptional = member._zod.optout === 'optional';
  const text = zodTypeText(member);
  return `readonly ${JSON.stringify(name)}${isOptional ? '?' : ''}: ${text};`;
}

function required<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('a schema lacks a part of its definition');
  return part;
}
