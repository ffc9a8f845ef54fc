import t, { type Test } from 'tap';
import { parseExactJson } from '../../../../src/domain/parse-exact-json.ts';
import { WRAPPED_SOL } from '../../../../src/solana/accounts/known-mints.ts';
import { extractTransfers } from '../../../../src/solana/analysis/extract-transfers.ts';
import type { Transfer } from '../../../../src/solana/analysis/transfer.ts';
import { formatUnits } from '../../../../src/solana/codec/format-decimal.ts';
import { asArray, asBigInt, asObject, asString } from '../../../../src/solana/codec/json-fields.ts';
import type { Transaction } from '../../../../src/solana/transactions/transaction.ts';
import { readRecordings, recordedTransactions } from '../../../support/recorded-transactions.ts';
import { expectListedDifferences } from '../difference-table.ts';

const transactions = new Map(
  recordedTransactions('transactions')
    .filter(({ name }) => name.startsWith('tx'))
    .map(({ transaction }) => [transaction.signatures[0], transaction]),
);

/** The result of another project's parser for a transaction that is recorded here. */
interface ParserResult {
  readonly name: string;
  readonly transaction: Transaction;
  readonly expected: Readonly<Record<string, unknown>>;
}

const parserResults = (parser: string): ParserResult[] =>
  readRecordings('expected').flatMap((line) => {
    const { name, result } = asObject(parseExactJson(line));
    const { signature, expected } = asObject(result);
    const transaction = transactions.get(asString(signature) ?? '');
    if (!String(name).startsWith(parser) || transaction === undefined) return [];
    return { name: String(name), transaction, expected: asObject(expected) };
  });

const amountOf = (value: unknown): unknown => {
  const { amount } = asObject(value);
  return amount;
};

const inSol = (lamports: bigint | null): string => formatUnits(lamports ?? 0n, 9);

/** Returns the lamports of an amount of SOL as text. */
const lamports = (sol: unknown): bigint => {
  const [units = '0', fraction = ''] = String(sol).split('.');
  return BigInt(units + fraction.padEnd(9, '0'));
};

t.test('fees equal those of four other parsers', async (t) => {
  const compared = [
    ...parserResults('dexparser').map((opinion) => {
      const { fee } = opinion.expected;
      return { ...opinion, theirs: inSol(asBigInt(amountOf(fee))) };
    }),
    ...parserResults('crosschain').map((opinion) => {
      const { Fee } = opinion.expected;
      return { ...opinion, theirs: inSol(asBigInt(Fee)) };
    }),
    ...parserResults('rotki').map((opinion) => {
      const { events } = opinion.expected;
      const [fee] = asArray(events)
        .map(asObject)
        .filter(({ notes }) => /transaction fee$/.test(String(notes)));
      return { ...opinion, theirs: String(amountOf(fee)) };
    }),
    ...parserResults('metamask').flatMap((opinion) => {
      const { fees } = opinion.expected;
      const paid = asArray(fees).map((fee) => {
        const { asset } = asObject(fee);
        return amountOf(asset);
      });
      if (paid.length === 0) return []; // from the view of an account that paid none
      return { ...opinion, theirs: inSol(paid.map(lamports).reduce((a, b) => a + b)) };
    }),
  ];
  t.ok(compared.length > 100, `${compared.length} fees`);
  const differing = compared.filter(({ transaction, theirs }) => inSol(transaction.fee) !== theirs);
  t.strictSame(
    differing.map(({ name }) => name),
    [],
  );
});

const at = ({ instructionIdx, innerInstructionIdx }: Transfer): string =>
  innerInstructionIdx === null ? `${instructionIdx}` : `${instructionIdx}-${innerInstructionIdx}`;

t.test('transfers equal those of two other parsers, except the listed differences', async (t) => {
  expectListedDifferences(t, 'transfer-differences.txt', [...dexParserDifferences(t), ...crosschainDifferences()]);
});

function dexParserDifferences(t: Test): string[] {
  const differences: string[] = [];
  let compared = 0;
  for (const { name, transaction, expected } of parserResults('dexparser')) {
    const ours = new Set(
      extractTransfers(transaction).map((row) => {
        const [from, to] =
          row.asset === 'SOL' ? [row.fromUserAccount, row.toUserAccount] : [row.fromTokenAccount, row.toTokenAccount];
        return `${at(row)} ${from ?? ''}>${to ?? ''} ${row.amount} ${row.mint ?? WRAPPED_SOL}`;
      }),
    );
    const { transfers } = expected;
    if (transaction.err !== null && asArray(transfers).length > 0) {
      differences.push(`${name}\t${asArray(transfers).length} transfers of a failed transaction`);
      continue;
    }
    for (const { type, idx, info } of asArray(transfers).map(asObject)) {
      const { source, destination, mint, tokenAmount } = asObject(info);
      const amount = amountOf(tokenAmount);
      compared++;
      if (!ours.has(`${idx} ${source ?? ''}>${destination ?? ''} ${amount} ${mint}`)) {
        differences.push(`${name}\t${type} at ${idx}: ${amount} of ${mint}`);
      }
    }
  }
  t.ok(compared > 100, `${compared} transfers`);
  return differences;
}

/** Returns the differences to crosschain, which lists only the transfers that it takes for the payment. */
function crosschainDifferences(): string[] {
  return parserResults('crosschain').flatMap(({ name, transaction, expected }) => {
    const ours = new Set(
      extractTransfers(transaction).map(
        ({ mint, amount, fromUserAccount, toUserAccount }) =>
          `${fromUserAccount}>${toUserAccount} ${amount} ${mint ?? ''}`,
      ),
    );
    const { Sources, Destinations } = expected;
    return asArray(Sources).flatMap((source, index) => {
      const { Address: from, Amount, ContractAddress } = asObject(source);
      const { Address: to } = asObject(asArray(Destinations)[index]);
      return ours.has(`${from}>${to} ${Amount} ${ContractAddress ?? ''}`) ? [] : `${name}\t${from}>${to} ${Amount}`;
    });
  });
}

t.test('the number of SOL transfers equals the explorer’s', async (t) => {
  for (const { name, transaction, expected } of parserResults('explorer-count')) {
    const { solTransfers } = expected;
    if (solTransfers === undefined) continue; // its note is tested in extract-transfers.test.ts
    const own = extractTransfers(transaction).filter(
      ({ type, asset, innerInstructionIdx }) => type === 'transfer' && asset === 'SOL' && innerInstructionIdx === null,
    );
    t.equal(own.length, solTransfers, name);
  }
});
