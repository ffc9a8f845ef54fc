import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { digestOfKey, generateApiKey } from '../../../../src/access/api-keys/api-key.ts';
import { sealRecord } from '../../../../src/fleet/redis/fleet-keys.ts';
import { deriveFleetSecret } from '../../../../src/fleet/redis/fleet-secret.ts';
import { loadReceiptKeys } from '../../../../src/receipts/keys/load-keys.ts';
import { receiptKeyOf } from '../../../support/fleet-gateway.ts';
import { waitFor } from '../../../support/harness.ts';
import { expect, expectNone, expectWithinMs, type FaultRow } from '../../findings.ts';
import { type FleetGateway, keysCommand, timesTold, withFleet } from '../fleet-testbed.ts';

/** The time until a revoked key is refused, also if the message about it is lost: bounds of the design. */
const TOLD_MS = 1000;
const UNTOLD_MS = 6000;

/** The streams that a key may have. */
const STREAMS = 3;

/** API keys that are issued and revoked by command, with Redis there, gone, and back without its memory. */
export const keysRevoked: FaultRow = {
  id: '54',
  title: 'F11: a key that is revoked is refused by all gateways, and stays so',
  run: (runLength) =>
    withFleet(async ({ redis, start, stateOf }) => {
      const set = [`limits.build.streams=${STREAMS}`];
      const gateways: FleetGateway[] = [await start('a', set), await start('b', set)];
      const keys = keysCommand(redis, stateOf('a'));
      const create = async (): Promise<{ key: string; id: string }> => {
        const { out, err } = await keys('create', '--tier', 'build', '--label', 'x');
        return { key: out.trim(), id: /key (\w+),/.exec(err)?.[1] ?? '' };
      };
      const statuses = (key: string): Promise<readonly number[]> =>
        Promise.all(gateways.map(async ({ get }) => (await get('/slot', { headers: { 'x-api-key': key } })).status));
      const msUntil = async (key: string, status: number): Promise<number> => {
        const sinceMs = performance.now();
        await waitFor(async () => (await statuses(key)).every((each) => each === status), `${status} everywhere`);
        return performance.now() - sinceMs;
      };
      const [genesisKey = ''] = /slotgate:\S+/.exec(await redis.command('KEYS', '*:genesis')) ?? [];
      const [, genesisHash = ''] = (await redis.command('GET', genesisKey)).split('\r\n');
      const one = await create();
      const issuedMs = await msUntil(one.key, 200);
      const streams = new Set<WebSocket>();
      for (const { url } of gateways)
        for (let i = 0; i < STREAMS; i++) {
          const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream`, {
            headers: { 'x-api-key': one.key },
          });
          socket.on('open', () => streams.add(socket)).on('close', () => streams.delete(socket));
          socket.on('error', () => {}); // refused
          await new Promise((resolve) => socket.once('open', resolve).once('error', resolve));
        }
      await waitFor(() => streams.size <= STREAMS, 'the streams of one caller');
      const streamsAtBoth = streams.size;
      await keys('revoke', one.id);
      const revokedMs = await msUntil(one.key, 401);

      const other = await create();
      await msUntil(other.key, 200);
      const keysKey = genesisKey.replace(/genesis$/, 'keys');
      const [, record = ''] = (await redis.command('HGET', keysKey, other.id)).split('\r\n');
      const json = record.slice(record.indexOf(' ') + 1);
      const source = { file: receiptKeyOf(stateOf('a')), stateDir: stateOf('a'), production: true };
      const secret = deriveFleetSecret(loadReceiptKeys(source, Date.now()).ring);
      const revoked = json.replace(/"revokedAt":null/, '"revokedAt":"2026-01-01"');
      await redis.command('HSET', keysKey, other.id, sealRecord(secret, other.id, revoked));
      await redis.command('INCR', `${keysKey}:version`); // and no message
      const untoldMs = await msUntil(other.key, 401);

      const forgedKey = generateApiKey();
      const forged = { ...JSON.parse(json), id: 'forged', sha256: digestOfKey(forgedKey) };
      await redis.command('HSET', keysKey, 'forged', `${'0'.repeat(64)} ${JSON.stringify(forged)}`);
      await redis.command('HSET', keysKey, other.id, record); // sealed, but older than the revocation
      await redis.command('INCR', `${keysKey}:version`);
      await waitFor(() => timesTold(gateways, 'API keys at Redis are not applied') > 0, 'an alarm');
      const believed = [...(await statuses(forgedKey)), ...(await statuses(other.key))].filter((each) => each !== 401);
      await redis.command('HDEL', keysKey, 'forged');

      const lasting = await create();
      await msUntil(lasting.key, 200);
      const contents = await redis.contents();
      await redis.signal('SIGKILL');
      await sleep(500);
      const withoutRedis = (await statuses(lasting.key)).filter((status) => status !== 200).length;
      await redis.restart();
      await waitFor(async () => (await keys('list')).code === 0, 'Redis again');
      await redis.command('FLUSHALL');
      await redis.command('SET', genesisKey, genesisHash);
      await waitFor(() => timesTold(gateways, 'Redis has older API keys') > 0, 'an alarm');
      const forgotten = (await statuses(lasting.key)).filter((status) => status !== 200).length;
      const refused = await keys('create', '--tier', 'build', '--label', 'y');
      const restored = await keys('restore');
      const after = await create();
      await msUntil(after.key, 200);
      return [
        expect('F14: no key in Redis', contents.includes(lasting.id) && !contents.includes(lasting.key.slice(0, 30))),
        expectWithinMs(runLength, 'issued, valid everywhere', issuedMs, TOLD_MS),
        expect(`F6: ${streamsAtBoth} of ${STREAMS} streams of one caller at both`, streamsAtBoth === STREAMS),
        expectWithinMs(runLength, 'revoked, refused everywhere', revokedMs, TOLD_MS),
        expectWithinMs(runLength, 'the same without the message', untoldMs, UNTOLD_MS),
        expectNone('gateways that take a key which was put into Redis by hand, or a revoked one back', believed.length),
        expectNone('gateways that refuse a key without Redis', withoutRedis),
        expectNone('gateways that refuse a key that Redis forgot', forgotten),
        expect('no key is added to half of them', refused.code === 1 && refused.err.includes('keys restore')),
        expect('given back', restored.code === 0 && (await statuses(lasting.key)).every((status) => status === 200)),
        expect(
          'revoked ones stay revoked',
          (await statuses(one.key)).every((status) => status === 401),
        ),
      ];
    }),
};
