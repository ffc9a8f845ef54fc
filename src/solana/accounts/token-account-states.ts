/** The states of a token account by their number, in the words of nodes. A frozen one can't be spent from. */
export const TOKEN_ACCOUNT_STATES = ['uninitialized', 'initialized', 'frozen'] as const;
