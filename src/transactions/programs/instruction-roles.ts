/** What an account is in an instruction. Programs name the same account in many ways; these are the words for it here. */
export const INSTRUCTION_ROLES = {
  user: 'the wallet that calls the program, or for which it is called: its assets move',
  owner: 'the wallet that owns the order, NFT or position; it need not have signed',
  newOwner: 'the wallet that gets what was the owner’s',
  holder: 'who gets a right: a delegate, a new authority',
  account: 'the account of the program that the right is over',
  keeper: 'the wallet that fills the order of another one',
  order: 'the account that stores the order or plan',
  seller: 'the wallet that sells an NFT or offers it',
  buyer: 'the wallet that buys an NFT or bids for one',
  mint: 'the mint of the token, or the address of the NFT',
  inputMint: 'the mint of what is paid',
  outputMint: 'the mint of what is received',
  pool: 'the pool, market, reserve or bank',
  vault: "the vault, or the account of the program's tokens",
  treasury: "the account that gets the marketplace's fee",
  makerBroker: 'the account that gets a part of that fee on the side of the maker',
  takerBroker: 'the account that gets a part of that fee on the side of the taker',
  tree: 'the Merkle tree that a compressed NFT is a leaf of',
  tokenRecord: 'the account that a programmable NFT has beside its token account',
} as const satisfies Readonly<Record<string, string>>;

export type InstructionRole = keyof typeof INSTRUCTION_ROLES;
