/** What `jsonParsed` shows of an account's data: which kind it is, and its fields. */
export interface Parsed {
  readonly type: string;
  readonly info: unknown;
}
