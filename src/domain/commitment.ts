/** How sure the cluster is of a slot, weakest first. https://solana.com/docs/rpc#configuring-state-commitment */
export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const;

export type Commitment = (typeof COMMITMENTS)[number];
