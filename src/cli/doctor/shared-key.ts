import type { Config } from '../../config/config-schema.ts';
import type { KeySource } from '../../gateway/index.ts';
import { StartError } from '../../shared/domain/start-error.ts';

/** Throws a StartError for a receipt key that workers can't share. */
export function checkSharedKey({ workers }: Config, { inline }: Pick<KeySource, 'inline'>): void {
  if (workers.count !== 0 && inline === 'ephemeral')
    throw new StartError(78, 'RECEIPT_KEY=ephemeral is for one process, and workers.count sets several');
}
