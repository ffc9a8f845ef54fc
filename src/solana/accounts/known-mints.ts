/** The mint of SOL held as a token, under both token programs. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

/**
 * Symbols of well-known mints. Anybody may mint another `USDC`, so the mint's address decides, never its metadata;
 * every other mint is named by its address.
 */
export const SYMBOL_BY_MINT: ReadonlyMap<string, string> = new Map([
  [WRAPPED_SOL, 'SOL'],
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'USDC'],
  ['Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'USDT'],
  ['2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo', 'PYUSD'],
  ['mSoLzYCxHdYgdzU16g5QSh3i5K3z3KZK7ytfqcJm7So', 'mSOL'],
  ['J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn', 'JitoSOL'],
  ['JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN', 'JUP'],
  ['DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263', 'BONK'],
  ['4k3Dyjzvzp8eMZWUXbBCjEvwSkkk59S5iCNLY3QrkX6R', 'RAY'],
  ['orcaEKTdK7LKz57vaAYr9QeNsVEPfiu6QeMU1kektZE', 'ORCA'],
  ['jtojtomepa8beP8AuQc6eXt5FriJwfFMwQx2v2f9mCL', 'JTO'],
]);

/** Returns the symbol of a well-known mint, or null. */
export const knownMintSymbol = (mint: string): string | null => SYMBOL_BY_MINT.get(mint) ?? null;
