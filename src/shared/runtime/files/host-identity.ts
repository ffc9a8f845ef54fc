import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { tryOrUndefined } from '../../domain/try-or-undefined.ts';

/** Decides whether another process can be checked from here. Each part is a short tag of hex digits. */
export interface HostIdentity {
  /** The machine, also after it was started again. */
  readonly machine: string;
  /** The running kernel: all its processes see each other's sockets. */
  readonly boot: string;
  /** The namespace of process ids: a container has its own. */
  readonly processes: string;
}

let identity: HostIdentity | undefined;

export function hostIdentity(): HostIdentity {
  identity ??= {
    machine: tagOf(textOf('/etc/machine-id') || hostname()),
    boot: tagOf(textOf('/proc/sys/kernel/random/boot_id') || hostname()),
    processes: tagOf(tryOrUndefined(() => readlinkSync('/proc/self/ns/pid')) ?? ''),
  };
  return identity;
}

const tagOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 6);

/** Returns the text of a file; undefined where there is none, as on other systems than Linux. */
const textOf = (path: string): string | undefined => tryOrUndefined(() => readFileSync(path, 'utf8').trim());
