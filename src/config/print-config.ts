import * as z from 'zod';
import { valueAt } from './config-layers.ts';
import { type Config, configSchema } from './config-schema.ts';
import { readPackagedLayer } from './config-sources.ts';
import { redactUrl } from './redact-url.ts';
import { upstreamNodeSchema } from './upstreams-schema.ts';

export function formatConfig(config: Config): string {
  const upstreams = config.upstreams.map(({ id, url, wsUrl, geyser, ...roles }) => ({
    id,
    url: redactUrl(url),
    ws: redactUrl(wsUrl),
    ...roles,
    ...(geyser !== undefined && { geyser: { ...geyser, url: redactUrl(geyser.url) } }),
  }));
  const { jupiter } = config.prices;
  const url = redactedUnlessDefault(jupiter.url, 'url');
  const tokensUrl = redactedUnlessDefault(jupiter.tokensUrl, 'tokensUrl');
  const prices = { ...config.prices, jupiter: { ...jupiter, url, tokensUrl } };
  return `${JSON.stringify({ ...config, upstreams, prices }, undefined, 2)}\n`;
}

/** Returns a URL of Jupiter's without the key that it may contain; the packaged one has none. */
const redactedUnlessDefault = (url: string, setting: 'url' | 'tokensUrl'): string =>
  url === valueAt(readPackagedLayer('default').values, ['prices', 'jupiter', setting]) ? url : redactUrl(url);

/** As JSON Schema (draft 2020-12), with meanings and defaults. A file contains only changes, so nothing is required. */
export function formatConfigSchema(): string {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema === upstreamNodeSchema) allowText(jsonSchema, 'URL or URL,WEBSOCKET-URL');
    },
  });
  return `${JSON.stringify(withDefaults(schema, readPackagedLayer('default').values), undefined, 2)}\n`;
}

function allowText(schema: z.core.JSONSchema.BaseSchema, description: string): void {
  const other = { ...schema };
  for (const key of Object.keys(schema)) delete schema[key];
  schema.anyOf = [{ type: 'string', description }, other];
}

function withDefaults(schema: z.core.JSONSchema.BaseSchema, values: unknown): z.core.JSONSchema.BaseSchema {
  const { required: _, ...optional } = schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    if (typeof property === 'boolean') return [name, property];
    const value = valueAt(values, [name]);
    return [name, property.properties === undefined ? { ...property, default: value } : withDefaults(property, value)];
  });
  return { ...optional, properties: Object.fromEntries(properties) };
}
