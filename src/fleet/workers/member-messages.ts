import type { Config } from '../../config/config-schema.ts';
import type { Secrets } from '../../config/secret-variables.ts';
import type { StartError } from '../../domain/start-error.ts';
import type { KeySource } from '../../receipts/keys/key-source.ts';
import type { NodeStatus } from '../../upstream/mesh/mesh.ts';
import type { ClusterInUse } from '../../wiring/open-upstream.ts';

/** What each process of a gateway is started with. */
export interface MemberSettings {
  readonly config: Config;
  readonly receiptKey: Omit<KeySource, 'stateDir'>;
  readonly secrets: Secrets;
  readonly isAdminPortChosen: boolean;
  /** The embedded cluster, which runs in the supervisor's process; undefined over configured nodes. */
  readonly embedded: Omit<ClusterInUse, 'ended' | 'close'> | undefined;
  /** The folder of the log and the socket. */
  readonly folder: string;
}

/** What the supervisor tells a process. */
export type ToMember =
  | {
      readonly kind: 'start';
      readonly role: 'pipeline';
      readonly settings: MemberSettings;
      readonly epoch: number;
      readonly workers: readonly number[];
    }
  | { readonly kind: 'start'; readonly role: 'worker'; readonly settings: MemberSettings; readonly id: number }
  | { readonly kind: 'reload' }
  | { readonly kind: 'reloadFailed' }
  | { readonly kind: 'close' };

/** What is told of a gateway when it listens. */
export interface PipelineFacts {
  readonly cluster: string | null;
  readonly admin: string | null;
  readonly publicKey: string;
  readonly signsAlone: boolean;
  readonly receiptKeyPath: string | null;
  readonly nodes: readonly NodeStatus[];
}

/** What a process tells the supervisor. */
export type FromMember =
  | { readonly kind: 'up'; readonly url?: string; readonly facts?: PipelineFacts }
  | { readonly kind: 'alive' }
  | { readonly kind: 'late'; readonly workers: readonly number[] }
  | { readonly kind: 'failed'; readonly exitCode: StartError['exitCode']; readonly message: string };
