import type { ApiDocument, Schema } from './api-document.ts';

/** A member of a result, with its path from the answer's top: `result.items[].mint`. */
export interface SchemaRow {
  readonly path: string;
  readonly type: string;
  readonly description: string;
}

const DESCRIBED_ELSEWHERE: ReadonlySet<string> = new Set(['Receipt']);

const MAX_DEPTH = 6;

/** Lists the members of an answer, those of its members after each. */
export const propertiesOf = (schema: Schema | undefined, document: ApiDocument): readonly SchemaRow[] =>
  schema === undefined ? [] : rowsOf(schema, '', document, 0);

function rowsOf(schema: Schema, at: string, document: ApiDocument, depth: number): readonly SchemaRow[] {
  if (depth > MAX_DEPTH) return [];
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) {
    const target = document.components.schemas[name];
    return target === undefined || DESCRIBED_ELSEWHERE.has(name) ? [] : rowsOf(target, at, document, depth);
  }
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return uniqueRows(variants.flatMap((variant) => rowsOf(variant, at, document, depth)));
  if (schema.items !== undefined) return rowsOf(schema.items, `${at}[]`, document, depth);
  return Object.entries(schema.properties ?? {}).flatMap(([member, value]) => {
    const path = at === '' ? member : `${at}.${member}`;
    const row = { path, type: formatSchemaType(value), description: value.description ?? '' };
    return [row, ...rowsOf(value, path, document, depth + 1)];
  });
}

/** Keeps the first of the rows with one path: the variants of a result share most members. */
function uniqueRows(rows: readonly SchemaRow[]): readonly SchemaRow[] {
  const seen = new Set<string>();
  return rows.filter(({ path }) => !seen.has(path) && seen.add(path));
}

/** Formats the type of a parameter, with its bound and its default. */
export function formatParameterType(schema: Schema): string {
  const most = schema.maximum ?? schema.maxItems;
  const bound = most === undefined ? '' : `, at most ${most}`;
  const otherwise = schema.default === undefined ? '' : `, default ${JSON.stringify(schema.default)}`;
  return formatSchemaType(schema) + bound + otherwise;
}

/** Formats the type of a schema in the words of JSON. */
export function formatSchemaType(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return [...new Set(variants.map(formatSchemaType))].join(' | ');
  if (schema.type === 'array') return `${schema.items === undefined ? 'any' : formatSchemaType(schema.items)}[]`;
  return schema.type === undefined ? 'any' : [schema.type].flat().join(' | ');
}
