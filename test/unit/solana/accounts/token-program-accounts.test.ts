import t from 'tap';
import { toJson } from '../../../../src/domain/to-json.ts';
import {
  decodeTokenProgramAccount,
  type Mint,
  tokenProgramOf,
} from '../../../../src/solana/accounts/token-program-accounts.ts';
import { type AmountScale, amountScaleOf, toTokenAmount } from '../../../../src/solana/accounts/ui-amount.ts';
import {
  findRecordedAccount,
  parsedAccountRecords,
  storedAccounts,
  thirdPartyDecodings,
} from '../../../support/recorded-accounts.ts';

const MINT_SIZE = 82;

type Decoded = NonNullable<ReturnType<typeof decodeTokenProgramAccount>>;

/** Sorts members by name, as in the recordings. */
function byName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(byName);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, byName(member)]),
  );
}

/** Returns the jsonParsed form of a decoded account: nodes leave out absent members. */
function toJsonParsed(decoded: Decoded, scale: AmountScale): unknown {
  const { type, program: _, ...fields } = decoded;
  if (type === 'multisig') return { type, info: fields };
  const { extensions, ...base } = fields as Omit<Exclude<Decoded, { type: 'multisig' }>, 'type' | 'program'>;
  const listed = extensions.length === 0 ? {} : { extensions };
  if (decoded.type === 'mint') return { type, info: { ...base, supply: `${decoded.supply}`, ...listed } };
  if (decoded.type !== 'account') throw new Error('neither mint nor account');
  const { mint, owner, state, amount, delegate, delegatedAmount, rentExemptReserve, closeAuthority } = decoded;
  const info = {
    mint,
    owner,
    state,
    isNative: rentExemptReserve !== null,
    tokenAmount: toTokenAmount(amount, scale),
    ...(delegate === null ? {} : { delegate, delegatedAmount: toTokenAmount(delegatedAmount, scale) }),
    ...(rentExemptReserve === null ? {} : { rentExemptReserve: toTokenAmount(rentExemptReserve, scale) }),
    ...(closeAuthority === null ? {} : { closeAuthority }),
    ...listed,
  };
  return { type, info };
}

/** Returns the scale of an account's mint if that is recorded too, else the decimals that the node names. */
function scaleFor(decoded: Decoded, parsed: string, clock: number | null): AmountScale {
  const mint = decoded.type === 'account' ? mintOf(decoded.mint) : undefined;
  if (mint !== undefined && clock !== null) return amountScaleOf(mint, BigInt(clock));
  return { decimals: Number(/"decimals":(\d+)/.exec(parsed)?.[1] ?? 0) };
}

function mintOf(address: string): Mint | undefined {
  const account = storedAccounts.find((each) => each.address === address);
  const decoded = account && decodeTokenProgramAccount(account);
  return decoded?.type === 'mint' ? decoded : undefined;
}

t.test('the decoded account equals the node’s jsonParsed of the same bytes, text for text', async (t) => {
  t.ok(parsedAccountRecords.length >= 12);
  for (const twin of parsedAccountRecords) {
    const decoded = decodeTokenProgramAccount(twin);
    if (decoded === undefined) t.fail(`${twin.address} is not decoded`);
    else t.equal(toJson(byName(toJsonParsed(decoded, scaleFor(decoded, twin.parsed, twin.clock)))), twin.parsed);
  }
});

t.test('every recorded account of a token program is decoded, and no other account', async (t) => {
  const owned = storedAccounts.filter(({ owner }) => tokenProgramOf(owner) !== undefined);
  t.ok(owned.length > 60);
  for (const account of storedAccounts) {
    t.equal(
      decodeTokenProgramAccount(account) !== undefined,
      owned.includes(account),
      `${account.recording} ${account.address}`,
    );
  }
});

/** Differences of @solana/spl-token in the same bytes. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo transferHook.programId 11111111111111111111111111111111 null':
    'an address of zeros is no program: nodes show null, the library the zeros',
  '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1 transferFeeConfig.transferFeeConfigAuthority 11111111111111111111111111111111 null':
    'an address of zeros is no authority: nodes show null, the library the zeros',
  '7atgF8KQo4wJrD5ATGX7t1V2zVvykPJbFfNeVf1icFv1 transferFeeConfig.withdrawWithheldAuthority 11111111111111111111111111111111 null':
    'an address of zeros is no authority: nodes show null, the library the zeros',
  'znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh transferFeeConfig.transferFeeConfigAuthority 11111111111111111111111111111111 null':
    'an address of zeros is no authority: nodes show null, the library the zeros',
  'znv3FZt2HFAvzYf5LxzVyryh3mBXWuTRRng25gEZAjh tokenMetadata.updateAuthority undefined null':
    'the library leaves out what is not set, nodes show null',
};

t.test('@solana/spl-token decodes the same, except the listed differences', async (t) => {
  const found: string[] = [];
  for (const { parser, recording, address, decoded: theirs } of thirdPartyDecodings) {
    if (!parser.startsWith('@solana/spl-token')) continue;
    const ours = decodeTokenProgramAccount(findRecordedAccount(recording, address));
    if (ours === undefined || ours.type === 'multisig') t.fail(`${address} is not decoded`);
    else
      found.push(...differences(flatten(theirs), flatten(toLibraryFields(ours))).map((line) => `${address} ${line}`));
  }
  t.strictSame(found.sort(), Object.keys(DIFFERENCES).sort());
});

/** Returns a decoded account in the shape of @solana/spl-token. */
function toLibraryFields(decoded: Exclude<Decoded, { type: 'multisig' }>): Record<string, unknown> {
  const { program: _, extensions, ...fields } = decoded;
  const ext = Object.fromEntries(
    extensions.flatMap((each) => ('state' in each ? [[each.extension, each.state] as const] : [])),
  );
  if (fields.type === 'mint') return { ...fields, ext };
  const { state, ...account } = fields;
  return {
    ...account,
    ext,
    isInitialized: state !== 'uninitialized',
    isFrozen: state === 'frozen',
    isNative: account.rentExemptReserve !== null,
  };
}

function flatten(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[path, String(value)]]);
  const inside = path === '' || path === 'ext' ? '' : `${path}.`;
  return new Map(Object.entries(value).flatMap(([name, member]) => [...flatten(member, `${inside}${name}`)]));
}

/** Returns the members that both name, and ours in extensions that both have; extension names come with their states. */
function differences(theirs: Map<string, string>, ours: Map<string, string>): string[] {
  const extensions = new Set([...theirs.keys()].filter((path) => path.includes('.')).map((path) => path.split('.')[0]));
  const paths = [...ours.keys()].filter((path) => theirs.has(path) || extensions.has(path.split('.')[0]));
  return paths
    .filter((path) => theirs.get(path) !== ours.get(path))
    .map((path) => `${path} ${theirs.get(path)} ${ours.get(path)}`);
}

t.test('DAS returns the same token account', async (t) => {
  const results = thirdPartyDecodings.filter(({ parser, decoded }) => parser === 'das' && 'frozen' in decoded);
  t.equal(results.length, 2);
  for (const { recording, address, decoded } of results) {
    const { mint, owner, amount, delegate, frozen, close_authority: closeAuthority } = decoded;
    const state = frozen ? 'frozen' : 'initialized';
    t.match(decodeTokenProgramAccount(findRecordedAccount(recording, address)), {
      mint,
      owner,
      amount: BigInt(amount),
      delegate,
      state,
      closeAuthority,
    });
  }
});

t.test('a wrapped SOL account has its rent-exempt reserve', async (t) => {
  const data = new Uint8Array(165);
  data.set([1, 0, 0, 0, 0xf0, 0x1d, 0x1f], 109);
  data[108] = 1;
  t.match(decodeTokenProgramAccount({ owner: TOKEN, data }), {
    type: 'account',
    state: 'initialized',
    rentExemptReserve: 2_039_280n,
  });
});

t.test('data that a token program would refuse is not decoded', async (t) => {
  const mint = new Uint8Array(MINT_SIZE);
  t.equal(decodeTokenProgramAccount({ owner: TOKEN, data: mint })?.type, 'mint', 'as long as a mint');
  t.equal(
    decodeTokenProgramAccount({ owner: '11111111111111111111111111111111', data: mint }),
    undefined,
    'of another program',
  );
  t.equal(
    decodeTokenProgramAccount({ owner: TOKEN, data: mint.with(0, 2) }),
    undefined,
    'an option that is neither there nor not',
  );
  t.equal(
    decodeTokenProgramAccount({ owner: TOKEN, data: mint.with(45, 2) }),
    undefined,
    'neither initialized nor not',
  );
  t.equal(
    decodeTokenProgramAccount({ owner: TOKEN, data: new Uint8Array(165).with(108, 3) }),
    undefined,
    'no such state',
  );
  t.equal(
    decodeTokenProgramAccount({ owner: TOKEN, data: new Uint8Array(170).with(165, 1) }),
    undefined,
    'extensions without Token-2022',
  );
  const extended = new Uint8Array(170).with(165, 1);
  t.equal(decodeTokenProgramAccount({ owner: TOKEN_2022, data: extended })?.type, 'mint');
  t.equal(
    decodeTokenProgramAccount({ owner: TOKEN_2022, data: extended.with(120, 1) }),
    undefined,
    'something where nothing may be',
  );
  t.equal(decodeTokenProgramAccount({ owner: TOKEN_2022, data: extended.with(165, 2) })?.type, 'account');
  t.equal(
    decodeTokenProgramAccount({ owner: TOKEN_2022, data: extended.with(165, 3) }),
    undefined,
    'neither mint nor account',
  );
  t.equal(decodeTokenProgramAccount({ owner: TOKEN_2022, data: new Uint8Array(355).with(165, 1) })?.type, 'multisig');
});

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
