/** Indents JSON text for people, and keeps every digit and letter of its values. */
export function indentJson(json: string): string {
  let depth = 0;
  const newLine = (): string => `\n${'  '.repeat(depth)}`;
  return json.replace(/"(?:[^"\\]|\\.)*"|\{\s*\}|\[\s*\]|[{}[\],:]|\s+/g, (token) => {
    if (token === '{' || token === '[') {
      depth++;
      return token + newLine();
    }
    if (token === '}' || token === ']') {
      depth--;
      return newLine() + token;
    }
    if (token === ',') return token + newLine();
    if (token === ':') return ': ';
    return token.startsWith('"') ? token : token.trim().replace(/\s+/g, '');
  });
}
