/**
 * How the validators of a cluster agree on blocks. Under Alpenglow votes are no transactions, and confirmed and finalized
 * are equivalent. https://docs.anza.xyz/consensus/commitments
 */
export const CLUSTER_CONSENSUSES = ['tower', 'alpenglow'] as const;

export type ClusterConsensus = (typeof CLUSTER_CONSENSUSES)[number];
