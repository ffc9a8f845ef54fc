import { type Param, slot } from '../routes/routing/params.ts';
import type { Route } from '../routes/routing/route.ts';
import { isTopicName } from '../routes/stream-topics.ts';
import { zodTypeText } from './zod-type-text.ts';

export function routeTypesText(routes: readonly Route[]): string {
  const gets = routes.flatMap((route) =>
    route.kind === 'post'
      ? []
      : `  readonly '${route.path}': { readonly params: ${paramsText(route.params)}; readonly result: ${zodTypeText(route.result)}; readonly envelope: '${route.envelope}' };`,
  );
  const posts = routes.flatMap((route) =>
    route.kind === 'post'
      ? `  readonly '${route.path}': { readonly body: ${zodTypeText(route.body)}; readonly result: ${zodTypeText(route.result)}; readonly envelope: '${route.envelope}' };`
      : [],
  );
  return `interface GetRoutes {
${gets.join('\n')}
}
interface PostRoutes {
${posts.join('\n')}
}
/** The path of a GET route as declared: \`/balance/:addr\`. */
export type Path = keyof GetRoutes;
export type PostPath = keyof PostRoutes;
export type Result<P extends Path | PostPath> = P extends Path ? GetRoutes[P]['result'] : P extends PostPath ? PostRoutes[P]['result'] : never;
export type Body<P extends PostPath> = PostRoutes[P]['body'];
export type EnvelopeOf<P extends Path | PostPath> = P extends Path ? GetRoutes[P]['envelope'] : P extends PostPath ? PostRoutes[P]['envelope'] : never;
/** The paths whose answers have a receipt. */
export type SignedPath = { [P in Path]: EnvelopeOf<P> extends 'signed' ? P : never }[Path];
export type Parameters<P extends Path> = GetRoutes[P]['params'];
`;
}

const paramsText = (params: Readonly<Record<string, Param<unknown>>>): string =>
  `{ ${Object.entries(params)
    .map(
      ([name, { required, schema }]) =>
        `readonly ${name}${required ? '' : '?'}: ${paramText(schema)}${required ? '' : ' | undefined'};`,
    )
    .join(' ')} }`;

function paramText(schema: { readonly type?: string; readonly enum?: readonly string[] }): string {
  if (schema === slot.schema || schema.type === 'integer') return 'number';
  if (schema.type === 'array') return 'readonly string[]';
  return schema.enum === undefined ? 'string' : schema.enum.map((value) => JSON.stringify(value)).join(' | ');
}

export const topicTypesText = (routes: readonly Route[]): string => {
  const names = [...new Set(routes.map(({ path }) => path.split('/')[1]))].filter(isTopicName);
  return `export type TopicName = ${names.map((name) => JSON.stringify(name)).join(' | ')};\n`;
};
