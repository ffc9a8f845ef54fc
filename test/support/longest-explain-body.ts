/** Makes a body of /explain that takes a thread as long as any of its length: 600 transfers of as many mints. */
export function longestExplainBody(): string {
  const programId = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
  const address = (prefix: string, index: number): string => `${prefix}${index}`.padEnd(43, 'x');
  const accountKeys = Array.from({ length: 19 }, (_, i) => ({ pubkey: address('K', i), signer: true, writable: true }));
  const instructions = Array.from({ length: 600 }, (_, i) => {
    const parties = { source: address('A', i), destination: address('B', i), authority: accountKeys[i % 19]?.pubkey };
    const info = { ...parties, mint: address('M', i), tokenAmount: { amount: '5', decimals: 6 } };
    return { program: 'spl-token', programId, parsed: { type: 'transferChecked', info } };
  });
  const balances = accountKeys.map(() => 1);
  const transaction = { signatures: ['s'], message: { accountKeys, instructions } };
  const meta = { err: null, fee: 5000, preBalances: balances, postBalances: balances, innerInstructions: [] };
  return JSON.stringify({ tx: { transaction, meta: { ...meta, preTokenBalances: [], postTokenBalances: [] } } });
}
