export { type ClusterFacts, type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts';
