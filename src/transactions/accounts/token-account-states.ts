/** Names of token account states by number, as nodes write them. A frozen account can't be spent from. */
export const TOKEN_ACCOUNT_STATES = ['uninitialized', 'initialized', 'frozen'] as const;
