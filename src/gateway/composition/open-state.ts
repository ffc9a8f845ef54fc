import { isStrongSignature } from '../../client/verify/index.ts';
import type { Config } from '../../config/config-schema.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { requireFolder } from '../../shared/runtime/files/state-folder.ts';
import {
  DOCUMENT_PATHS,
  loadSite,
  MISSING_PAGE,
  SITE_PATHS,
  type Site,
  type SiteFile,
} from '../../shared/site/site.ts';
import { type AccessOptions, openAccess } from '../access/access.ts';
import { apiKeysPath, readApiKeys } from '../access/api-keys/api-key-store.ts';
import { loadReceiptKeys } from '../receipts/keys/load-keys.ts';
import { ReceiptKeys } from '../receipts/keys/receipt-keys.ts';
import type { Sealer } from '../serving/sealer.ts';
import type { Environment } from './environment.ts';

export type State = Awaited<ReturnType<typeof openState>>;

/** Opens everything that needs no node, so that a mistake there stops the start immediately. */
export async function openState(
  { config, engine, keySource, log, clock, random, disposals, writes }: Environment,
  counters?: AccessOptions['counters'],
) {
  const site = await openSite(config);
  requireFolder(config.dataDir, false);
  readApiKeys(apiKeysPath(config.dataDir)); // a damaged file is refused before a receipt key is created
  const loadedKeys = loadReceiptKeys(keySource, clock.now());
  const keys = new ReceiptKeys(loadedKeys.ring, clock, ({ publicKey, kid }) =>
    log.info({ publicKey, kid }, 'another receipt key signs'),
  );
  const access = openAccess({
    ...config,
    waitMs: config.upstreamPolicy.timeoutMs,
    idleSeconds: engine.idleSeconds,
    clock,
    writes,
    counters,
    random,
    verifySignature: isStrongSignature,
    onProblem: (problem, err) => log.warn(err === undefined ? {} : { err }, problem),
    onRecovery: (message) => log.info({}, message),
  });
  disposals.defer(() => access.close());
  return { loadedKeys, keys, site, access };
}

/** Reloads the receipt keys. If they can't be used, the old ones stay in use. */
export function reloadReceiptKeys(
  { keySource, log, clock, failedReloads }: Pick<Environment, 'keySource' | 'log' | 'clock' | 'failedReloads'>,
  { loadedKeys, keys }: Pick<State, 'loadedKeys' | 'keys'>,
  sealer: Pick<Sealer, 'invalidateReceipts'> | undefined,
): void {
  if (loadedKeys.path === null) {
    log.info({}, 'the receipt key was given inline: there is nothing to reload');
    return;
  }
  try {
    const { ring } = loadReceiptKeys({ ...keySource, production: true }, clock.now()); // production creates no key
    keys.replace(ring);
    if (keys.hasRevoked) sealer?.invalidateReceipts();
    log.info({ publicKey: keys.active.publicKey }, 'the receipt keys were reloaded');
  } catch (err) {
    failedReloads.receiptKeys++;
    log.error({ err }, "the receipt keys can't be used; the old ones stay in use");
  }
}

let loadedSite: Promise<Site> | undefined;

/** Loads pages and documents once for all gateways of the process: they are the same for each. */
async function openSite({ pages }: Config) {
  loadedSite ??= loadSite();
  const site = await loadedSite;
  const fileOf = (name: string): SiteFile => {
    const file = site.get(name);
    if (file === undefined) throw new StartError(1, `the build has made no ${name}: npm run build`);
    return file;
  };
  const ofPages = pages ? [...SITE_PATHS, [MISSING_PAGE, MISSING_PAGE] as const] : [];
  return new Map([...DOCUMENT_PATHS, ...ofPages].map(([path, name]) => [path, fileOf(name)]));
}
