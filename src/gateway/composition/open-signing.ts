import { operatorsIn } from '../../config/operators.ts';
import { RedisFleet, type RedisFleetOptions } from '../fleet/redis/redis-fleet.ts';
import { deriveFleetSecret, fleetSecretOfText } from '../fleet/transport/redis/fleet-secret.ts';
import { EquivocationGuard } from '../receipts/equivocation-guard.ts';
import { holdSigningLock } from '../receipts/keys/signing-lock.ts';
import { Signer } from '../receipts/signer.ts';
import type { Environment } from './environment.ts';
import type { State } from './open-state.ts';
import type { Upstream } from './open-upstream.ts';

export type Signing = Awaited<ReturnType<typeof openSigning>>;

export async function openSigning(
  env: Environment,
  { loadedKeys, keys, access }: State,
  { mesh }: Upstream,
  counters: RedisFleetOptions['counters'],
) {
  const { config, log, clock, random, disposals, redis, fleetSecret, writes } = env;
  const { path, created, warning } = loadedKeys;
  const guard = new EquivocationGuard(
    (conflict) => log.error(conflict, 'two results for one finalized slot'),
    () => log.warn({}, 'too many finalized answers to remember: new ones are signed as observed for a while'),
    config.ring.slots,
  );
  const signer = new Signer(keys, mesh, guard, operatorsIn(config)?.needed);
  signer.onStepBack((leadMs) =>
    log.warn({ leadMs }, 'the clock was set back: later receipts have earlier times than some before'),
  );
  if (warning !== null) log.warn({}, warning);
  if (created) log.info({ publicKey: signer.publicKey, path }, 'receipt key created');
  const releaseSigningLock = await holdSigningLock({
    keys: loadedKeys,
    guard,
    clock,
    random,
    onExactWithheld: (reason, err) => log.warn({ err }, reason),
    onExactGranted: () => log.info({}, 'this process alone signs with the receipt key now'),
  });
  disposals.defer(releaseSigningLock);
  const tip = () => mesh.tip('finalized');
  const flushUsage = (): void => access.usage.flush();
  const shared = { config, log, clock, random, writes, guard, tip, keysPath: access.keysPath, flushUsage, counters };
  const secret = fleetSecret === undefined ? () => deriveFleetSecret(loadedKeys) : () => fleetSecretOfText(fleetSecret);
  const fleet = redis && new RedisFleet({ ...shared, settings: redis, secret: secret(), kids: () => keys.ids });
  disposals.defer(() => fleet?.close());
  return { guard, signer, fleet };
}
