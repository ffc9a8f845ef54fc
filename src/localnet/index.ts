export { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts';
