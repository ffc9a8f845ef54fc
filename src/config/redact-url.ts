/** Redacts a URL for display: providers put keys into the user part, the path or the query. */
export function redactUrl(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:\/\/)?(.*@)?([^/?#,]*)(.*)$/is, (_, scheme = '', user = '', host, rest) =>
    [scheme, user && '***@', host, rest === '/' ? rest : rest && '/***'].join(''),
  );
}
