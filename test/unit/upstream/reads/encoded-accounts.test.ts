import t from 'tap';
import { GatewayError } from '../../../../src/domain/gateway-error.ts';
import { readEncodedAccounts } from '../../../../src/upstream/reads/encoded-accounts.ts';
import type { RpcCaller } from '../../../../src/upstream/rpc/rpc-response.ts';

/** A node whose responses have at most `maxBytes`, and whose large accounts have `largeBytes` each. */
function open(largeBytes: number, maxBytes: number) {
  const calls: number[] = [];
  const rpc: RpcCaller = {
    async call(_, [addresses] = []) {
      const list = addresses as readonly string[];
      calls.push(list.length);
      const data = (address: string): string => 'A'.repeat(address.startsWith('large') ? largeBytes : 4);
      const accounts = list.map((address) => `{"lamports":1,"owner":"o","data":["${data(address)}","base64"]}`);
      const value = Buffer.from(`[${accounts}]`);
      if (value.length > maxBytes) throw new GatewayError('result_too_large', 'the response is too long');
      return { slot: 7, result: value, value };
    },
  };
  return { rpc, calls };
}

const options = { commitment: 'confirmed', minContextSlot: undefined } as const;

t.test('accounts too large for one response are read by halves', async (t) => {
  const { rpc, calls } = open(1000, 2500);
  const addresses = ['large1', 'a1', 'a2', 'large2', 'a3', 'large3', 'a4', 'a5'];
  const { slots, accounts } = await readEncodedAccounts(rpc, addresses, options);
  t.equal(accounts.size, 8);
  t.same(slots, [7, 7], 'the slot of each part');
  t.same(calls, [8, 4, 4]);
});

t.test('one account too large for any response, or too many bytes in all, is refused', async (t) => {
  const refused = { code: 'result_too_large' };
  const tooLong = open(3000, 2500);
  await t.rejects(readEncodedAccounts(tooLong.rpc, ['a1', 'large1', 'a2'], options), refused);
  const tooMany = open(30 << 20, 32 << 20);
  await t.rejects(readEncodedAccounts(tooMany.rpc, ['large1', 'large2', 'large3', 'a1'], options), refused);
});
