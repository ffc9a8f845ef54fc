/** What is answered to a request. */
export interface AdminAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Answers a GET; `query` has the parameters of its URL. */
export type AdminPage = (query: URLSearchParams) => AdminAnswer | Promise<AdminAnswer>;

/** Returns an answer in plain text. */
export const plain = (status: number, text: string): AdminAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${text}\n`,
});

/** Returns an answer in JSON. */
export const json = (value: unknown): AdminAnswer => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(value, undefined, 2)}\n`,
});
