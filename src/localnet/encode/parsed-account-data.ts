/** What `jsonParsed` shows of an account's data: which kind it is, and its fields. */
export interface ParsedAccountData {
  readonly type: string;
  readonly info: unknown;
}
