import t from 'tap';
import { isBase58Of } from '../../../../src/solana/codec/base58.ts';
import { CORE_PROGRAMS } from '../../../../src/solana/programs/core-programs.ts';
import {
  fallbackTypeOf,
  isIncidentalProgram,
  isTradingProgram,
  KNOWN_PROGRAMS,
  programRole,
} from '../../../../src/solana/programs/known-programs.ts';
import { SERVICE_PROGRAMS } from '../../../../src/solana/programs/service-programs.ts';
import { TRADING_PROGRAMS } from '../../../../src/solana/programs/trading-programs.ts';

const rows = [CORE_PROGRAMS, TRADING_PROGRAMS, SERVICE_PROGRAMS].flatMap((programs) => Object.values(programs).flat());

t.test('each program is an address, named once, with a name and a source', async (t) => {
  t.equal(rows.length, KNOWN_PROGRAMS.size);
  t.strictSame(
    rows.filter(([id, name, source]) => !isBase58Of(id, 32) || name === '' || !/^[A-Z][A-Z0-9_]+$/.test(source)),
    [],
  );
});

t.test('a role says what a transaction is while its instruction is unknown', async (t) => {
  const PYTH = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ';
  const PHOENIX = 'PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY';
  const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
  const UNKNOWN = 'VordrNZMkkryqCDFhFRcti4x3j94KY8fog3RhjGDVok';
  const rowOf = (id: string): unknown[] => [
    programRole(id),
    fallbackTypeOf(id),
    isTradingProgram(id),
    isIncidentalProgram(id),
  ];
  t.strictSame(rowOf(PYTH), ['oracle', 'ORACLE_UPDATE', false, true]);
  t.strictSame(rowOf(PHOENIX), ['orderBook', 'PLACE_ORDER', true, false]);
  t.strictSame(rowOf(JUPITER), ['aggregator', null, true, false]);
  t.strictSame(rowOf(UNKNOWN), ['other', null, false, false]);
});
