export interface FilledRequest {
  readonly base: string;
  readonly method: string;
  readonly path: string;
  readonly pathValues: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The types of the parameters in the words of JSON: `integer`, `string[]`. */
  readonly types: Readonly<Record<string, string>>;
  readonly isSigned: boolean;
}

const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Returns the languages that a request can be written in: the SDK reads routes, and no documents. */
export const languagesFor = ({ path }: FilledRequest): readonly Language[] =>
  LANGUAGES.filter((language) => language !== 'TypeScript' || !path.endsWith('.json'));

export function urlOf({ base, path, pathValues, query }: FilledRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(pathValues[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return `${base}api/v1${filled}${search === '' ? '' : `?${search}`}`;
}

export function snippetOf(language: Language, request: FilledRequest): string {
  if (language === 'curl') return curlOf(request);
  return language === 'Python' ? pythonOf(request) : typeScriptOf(request);
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curlOf(request: FilledRequest): string {
  const headers = Object.entries(headersOf(request)).map(([name, value]) => ` -H ${shellQuoted(`${name}: ${value}`)}`);
  const body = request.body === undefined ? '' : ` -d ${shellQuoted(request.body)}`;
  return `curl${headers.join('')}${body} ${shellQuoted(urlOf(request))}`;
}

const headersOf = ({ headers, body }: FilledRequest): Readonly<Record<string, string>> =>
  body === undefined ? headers : { 'content-type': 'application/json', ...headers };

function pythonOf(request: FilledRequest): string {
  const headers = JSON.stringify(headersOf(request));
  const data = request.body === undefined ? '' : `, data=${JSON.stringify(request.body)}.encode()`;
  return [
    'import json, urllib.request',
    `request = urllib.request.Request(${JSON.stringify(urlOf(request))}, headers=${headers}${data})`,
    'print(json.load(urllib.request.urlopen(request)))',
  ].join('\n');
}

function typeScriptOf({
  base,
  method,
  path,
  pathValues,
  query,
  headers,
  body,
  types,
  isSigned,
}: FilledRequest): string {
  const declared = path.replace(/\{(\w+)\}/g, ':$1');
  const { 'X-Api-Key': key, 'X-Min-Slot': minSlot, 'X-Agree': agree, 'X-Receipt-Nonce': nonce } = headers;
  const options = [
    minSlot && `minSlot: ${minSlot}`,
    agree && `agree: ${agree}`,
    nonce && `nonce: ${JSON.stringify(nonce)}`,
  ].filter(Boolean);
  const params = body ?? objectText({ ...pathValues, ...query }, types);
  const args = [
    JSON.stringify(declared),
    ...(params === '{}' && options.length === 0 ? [] : [params]),
    ...(options.length === 0 ? [] : [`{ ${options.join(', ')} }`]),
  ];
  const withKey = key === undefined ? '' : `, headers: { 'x-api-key': ${JSON.stringify(key)} }`;
  return [
    'import { createClient } from "slotgate-client";',
    `const client = createClient({ url: ${JSON.stringify(base)}${withKey} });`,
    `const { result } = await client.${method}(${args.join(', ')});${isSigned ? ' // verified' : ''}`,
  ].join('\n');
}

function objectText(values: Readonly<Record<string, string>>, types: FilledRequest['types']): string {
  const members = Object.entries(values).map(
    ([name, value]) => `${name}: ${valueText(value, name === 'slot' ? 'integer' : types[name])}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** Writes a value as the SDK's types want it; the document has a slot as the text that it is in a URL. */
function valueText(value: string, type = ''): string {
  if (type.endsWith('[]')) return JSON.stringify(value.split(','));
  return type === 'integer' && /^(?:0|[1-9]\d{0,14})$/.test(value) ? value : JSON.stringify(value);
}
