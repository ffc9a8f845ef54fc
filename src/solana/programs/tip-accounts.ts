/**
 * The accounts that take tips for Jito's block builders. https://docs.jito.wtf/lowlatencytxnsend/#gettipaccounts. The
 * same eight stand in https://github.com/jito-foundation/jito-programs (`tip-payment`, derived from TIP_ACCOUNT_0 to _7).
 */
export const TIP_ACCOUNTS: ReadonlySet<string> = new Set([
  '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5',
  'HFqU5x63VTqvQss8hp11i4wVV8bD44PvwucfZ2bU7gRe',
  'Cw8CFyM9FkoMi7K7Crf6HNQqf4uEMzpKw6QNghXLvLkY',
  'ADaUMid9yfUytqMBgopwjb2DTLSokTSzL1zt6iGPaS49',
  'DfXygSm4jCyNCybVYYK6DwvWqjKee8pbDmJGcLWNDXjh',
  'ADuUkR4vqLUMWXxW9gh6D6L8pMSawimctcNZ5pGwDcEt',
  'DttWaMuVvTiduZRnguLF7jNxTgiMBZ1hyAumKUiL2KRL',
  '3AVi9Tg9Uo68tJfuvoKvqKNWKkC5wPdSSdeBnizKZ6jT',
]);

/** Returns whether an account takes tips: a payment to it buys a place in a block and nothing else. */
export const isTipAccount = (address: string): boolean => TIP_ACCOUNTS.has(address);
