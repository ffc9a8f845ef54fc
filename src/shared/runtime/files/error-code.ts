/** Returns true if an error has this system code, such as `ENOENT`. */
export const hasErrorCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code;
