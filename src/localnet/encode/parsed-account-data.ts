/** Kind of an account and its fields, as `jsonParsed` encodes them. */
export interface ParsedAccountData {
  readonly type: string;
  readonly info: unknown;
}
