/** The commitment levels of a slot, weakest first. https://solana.com/docs/rpc#configuring-state-commitment */
export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;

export type Commitment = (typeof COMMITMENTS)[number];

export const impliedCommitments = (commitment: Commitment): readonly Commitment[] => IMPLIED[commitment];

const IMPLIED: Readonly<Record<Commitment, readonly Commitment[]>> = {
  processed: ['processed'],
  confirmed: ['processed', 'confirmed'],
  finalized: COMMITMENTS,
};
