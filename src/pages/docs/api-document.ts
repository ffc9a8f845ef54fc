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

/** Lists the codes of an operation's errors. */
export function errorCodesOf(responses: OperationDetails['responses']): readonly string[] {
  const errors = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { content }]) => content?.['application/json']?.schema.properties?.['error']?.enum ?? []);
  return [...new Set(errors)];
}
