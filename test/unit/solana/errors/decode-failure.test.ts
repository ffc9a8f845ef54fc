import t from 'tap';
import { decodeFailure } from '../../../../src/solana/errors/decode-failure.ts';

const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4';
const RAYDIUM = '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const BUDGET = 'ComputeBudget111111111111111111111111111111';
const UNKNOWN = 'King7ki4SKMBPb3iupnQwTyjsq294jaXsgLmJo8cb7T';

const fails = (
  err: unknown,
  programs: readonly string[],
  logs: readonly string[] | null = null,
  hasInnerCalls = false,
) => decodeFailure({ err, logs, instructions: programs.map((programId) => ({ programId, hasInnerCalls })) });

t.test('an error number is looked up in the table of its program', async (t) => {
  t.strictSame(fails({ InstructionError: [1, { Custom: 6001 }] }, [BUDGET, JUPITER]), {
    instructionIndex: 1,
    programId: JUPITER,
    code: 6001,
    name: 'SlippageToleranceExceeded',
    message: 'the price moved further than the trader allowed',
  });
  t.equal(fails({ InstructionError: [0, { Custom: 1 }] }, [TOKEN]).name, 'InsufficientFunds');
  t.equal(fails({ InstructionError: [0, { Custom: 30 }] }, [RAYDIUM]).name, 'ExceededSlippage');
});

t.test('the failed program is the innermost one in the logs', async (t) => {
  const logs = [
    `Program ${JUPITER} invoke [1]`,
    `Program ${RAYDIUM} invoke [2]`,
    `Program ${TOKEN} invoke [3]`,
    'Program log: Instruction: Transfer',
    'Program log: Error: insufficient funds',
    `Program ${TOKEN} consumed 4000 of 90000 compute units`,
    `Program ${TOKEN} failed: custom program error: 0x1`,
    `Program ${RAYDIUM} failed: custom program error: 0x1`,
    `Program ${JUPITER} failed: custom program error: 0x1`,
  ];
  const failure = fails({ InstructionError: [0, { Custom: 1 }] }, [JUPITER], logs, true);
  t.match(failure, { instructionIndex: 0, programId: TOKEN, code: 1, name: 'InsufficientFunds' });
});

t.test(
  'without logs, an instruction that called others gives no name to its number: it may be another program’s',
  async (t) => {
    const failure = fails({ InstructionError: [0, { Custom: 1 }] }, [RAYDIUM], null, true);
    t.match(failure, { programId: RAYDIUM, code: 1, name: null, message: 'the program gave its own error number 1' });
  },
);

t.test('an unpublished error number stays a number', async (t) => {
  const failure = fails({ InstructionError: [0, { Custom: 57005 }] }, [UNKNOWN]);
  t.match(failure, { code: 57005, name: null, message: 'the program gave its own error number 57005' });
});

t.test('Anchor’s log message names the error of any program', async (t) => {
  const thrown =
    'Program log: AnchorError thrown in programs/x/src/lib.rs:109. Error Code: NonceMismatch. Error Number: 6002. Error Message: Nonce mismatch.';
  const logs = [`Program ${UNKNOWN} invoke [1]`, thrown, `Program ${UNKNOWN} failed: custom program error: 0x1772`];
  const failure = fails({ InstructionError: [0, { Custom: 6002 }] }, [UNKNOWN], logs);
  t.match(failure, { code: 6002, name: 'NonceMismatch', message: 'Nonce mismatch' });
});

t.test('a name that no Anchor program has is passed over, and of a long text only the beginning is read', async (t) => {
  const explain = (name: string, message: string) => {
    const thrown = `Program log: AnchorError x. Error Code: ${name}. Error Number: 6002. Error Message: ${message}.`;
    const logs = [`Program ${UNKNOWN} invoke [1]`, thrown, `Program ${UNKNOWN} failed: custom program error: 0x1772`];
    return fails({ InstructionError: [0, { Custom: 6002 }] }, [UNKNOWN], logs);
  };
  t.equal(explain('N'.repeat(64), 'too late').message, 'too late');
  t.equal(explain('slippage'.repeat(9), 'too late').name, null);
  t.equal(explain('Late', `${'late '.repeat(300)}slippage exceeded`).message, 'late '.repeat(24).trim());
});

t.test('logs of a program that succeeded are not taken for the reason', async (t) => {
  const logs = [
    `Program ${UNKNOWN} invoke [1]`,
    `Program ${TOKEN} invoke [2]`,
    'Program log: Error: only a warning',
    `Program ${TOKEN} success`,
    `Program ${UNKNOWN} failed: custom program error: 0x7`,
  ];
  const failure = fails({ InstructionError: [0, { Custom: 7 }] }, [UNKNOWN], logs, true);
  t.equal(failure.message, 'the program gave its own error number 7');
});

t.test('a program’s text is cut to one short printable line', async (t) => {
  const logs = [
    `Program ${UNKNOWN} invoke [1]`,
    `Program log: Error: a\nb\u0000${'c'.repeat(9000)}`,
    `Program ${UNKNOWN} failed: custom program error: 0x7`,
  ];
  const { message } = fails({ InstructionError: [0, { Custom: 7 }] }, [UNKNOWN], logs);
  t.match(message, /^a b c+$/);
  t.ok(message.length <= 120);
});

t.test('running out of compute units is distinguished from a crash', async (t) => {
  const err = { InstructionError: [0, 'ProgramFailedToComplete'] };
  const crashed = [`Program ${UNKNOWN} invoke [1]`, `Program ${UNKNOWN} failed: SBF program panicked`];
  const spent = [`Program ${UNKNOWN} invoke [1]`, `Program ${UNKNOWN} failed: exceeded CUs meter at BPF instruction`];
  t.equal(fails(err, [UNKNOWN], crashed).message, 'the program crashed');
  t.equal(fails(err, [UNKNOWN], spent).message, 'it ran out of its computing limit');
});

t.test('errors of the whole transaction have no instruction', async (t) => {
  const err = { InsufficientFundsForRent: { account_index: 2 } };
  t.match(fails(err, [UNKNOWN]), { instructionIndex: null, programId: null, name: 'InsufficientFundsForRent' });
  t.match(fails('InvalidRentPayingAccount', [UNKNOWN]), { code: 'InvalidRentPayingAccount', message: /SOL/ });
});

t.test('an error in an unknown form is reported as unknown', async (t) => {
  for (const err of [
    null,
    7,
    [],
    {},
    { InstructionError: 'x' },
    { InstructionError: [] },
    { InstructionError: [9, null] },
  ])
    t.type(fails(err, [UNKNOWN]).message, 'string');
  t.equal(fails('ErrorOfNextYear', []).message, 'ErrorOfNextYear');
});
