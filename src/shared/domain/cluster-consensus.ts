/** Alpenglow has no vote transactions; its confirmed is finalized. https://docs.anza.xyz/consensus/commitments */
export const CLUSTER_CONSENSUSES = ['tower', 'alpenglow'] as const;

export type ClusterConsensus = (typeof CLUSTER_CONSENSUSES)[number];
