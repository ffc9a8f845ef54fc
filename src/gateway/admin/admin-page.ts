export interface AdminAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export type AdminPage = (query: URLSearchParams) => AdminAnswer | Promise<AdminAnswer>;

export const plain = (status: number, text: string): AdminAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${text}\n`,
});

export const html = (title: string, body: string): AdminAnswer => ({
  status: 200,
  contentType: 'text/html; charset=utf-8',
  body: `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title>${body}</html>\n`,
});

export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

export const json = (value: unknown): AdminAnswer => jsonText(JSON.stringify(value, undefined, 2));

export const jsonText = (text: string): AdminAnswer => ({
  status: 200,
  contentType: 'application/json; charset=utf-8',
  body: `${text}\n`,
});
