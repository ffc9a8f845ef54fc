/** Tells one fault of the file system from the others, by its name: `ENOENT`. */
export const hasErrorCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code;
