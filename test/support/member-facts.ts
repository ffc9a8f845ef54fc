/** What a stub of a pipeline process reports when it is up. */
export const facts = {
  cluster: null,
  admin: null,
  publicKey: '',
  receiptMode: 'observed' as const,
  receiptKeyPath: null,
  nodes: [],
};
