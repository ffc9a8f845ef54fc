import type { Claim } from '../../../client/verify/index.ts';
import type { Config } from '../../../config/config-schema.ts';
import type { Secrets } from '../../../config/secret-variables.ts';
import type { ClusterFacts } from '../../../localnet/index.ts';
import type { StartError } from '../../../shared/domain/start-error.ts';
import type { KeySource } from '../../receipts/keys/key-source.ts';
import type { NodeStatus } from '../../upstream/mesh/mesh.ts';

export interface MemberSettings {
  readonly config: Config;
  readonly receiptKey: Omit<KeySource, 'stateDir'>;
  readonly secrets: Secrets;
  readonly isAdminPortChosen: boolean;
  /** The embedded cluster, which runs in the supervisor's process; undefined over configured nodes. */
  readonly embedded: ClusterFacts | undefined;
  readonly folder: string;
}

export type ToMember = Readonly<
  | { kind: 'start'; role: 'pipeline'; settings: MemberSettings; epoch: number; workers: readonly number[] }
  | { kind: 'start'; role: 'worker'; settings: MemberSettings; id: number }
  | { kind: 'reload' }
  | { kind: 'reloadFailed' }
  /** The gateway closes soon: it is not ready any more. */
  | { kind: 'leave' }
  | { kind: 'close' }
  /** The workers that a `late` names have ended. */
  | { kind: 'lateEnded' }
>;

export interface PipelineFacts {
  readonly cluster: string | null;
  readonly admin: string | null;
  readonly publicKey: string;
  readonly receiptMode: Claim;
  readonly receiptKeyPath: string | null;
  readonly nodes: readonly NodeStatus[];
}

export type FromMember = Readonly<
  | { kind: 'up'; url?: string; facts?: PipelineFacts }
  | { kind: 'alive' }
  | { kind: 'late'; workers: readonly number[] }
  | { kind: 'failed'; exitCode: StartError['exitCode']; message: string }
>;
