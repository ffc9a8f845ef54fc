export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface OperationDetails {
  readonly summary: string;
  readonly description: string;
  readonly externalDocs: { readonly url: string };
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

export interface ApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationDetails>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly details: OperationDetails;
}

export const operationsOf = ({ paths }: ApiDocument): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, details]) => ({ method, path, details })),
  );

/** Lists the parameters of an operation, then the members of its body in all of its forms. A batch has those of its calls. */
export function parametersOf({ parameters, requestBody }: OperationDetails): readonly Parameter[] {
  const schema = requestBody?.content['application/json']?.schema ?? {};
  const forms = schema.anyOf ?? [schema];
  const members = new Map(forms.flatMap(({ properties = {} }) => Object.entries(properties)));
  const inBody = [...members].map(([name, member]) => {
    const required = forms[0]?.required?.includes(name) ?? false;
    return { name, in: 'body', required, description: member.description ?? '', schema: member };
  });
  return [...parameters, ...inBody];
}

/** Lists the codes of an operation's errors. */
export function errorCodesOf(responses: OperationDetails['responses']): readonly string[] {
  const errors = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { content }]) => content?.['application/json']?.schema.properties?.['error']?.enum ?? []);
  return [...new Set(errors)];
}
