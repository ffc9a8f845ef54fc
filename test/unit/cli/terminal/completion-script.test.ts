import { spawnSync } from 'node:child_process';
import t from 'tap';
import { runSlotgate } from '../../../support/run-slotgate.ts';

/** Lines that each shell is asked to complete, and words that it must offer. */
const CASES: readonly (readonly [words: readonly string[], offered: readonly string[], not: readonly string[]])[] = [
  [['slotgate', ''], ['start', 'doctor', 'completion', '--config'], ['rotate']],
  [['slotgate', 'keys', ''], ['create', 'usage'], ['start']],
  [['slotgate', 'receipt', 'key', 'r'], ['rotate', 'revoke'], ['show']],
  [['slotgate', 'keys', 'create', '--tier', ''], ['build', 'scale'], ['list']],
  [['slotgate', '--port', '1', 'keys', 'rotate', '--'], ['--grace', '--state'], ['--tier']],
  [['slotgate', 'get', '/b'], ['/balance/', '/block/'], ['/tx/']],
  [['slotgate', 'completion', ''], ['bash', 'zsh', 'fish'], ['start']],
];

/** The program with which each shell tells what it would offer for the words that follow. */
const DRIVERS = {
  bash: `source /dev/stdin <<< "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _slotgate; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `compdef() { :; }; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@"; }
_files() { :; }; _describe() { print -l -- "\${(@P)2%%:*}"; }
eval "$SCRIPT"; words=("$@"); CURRENT=$#; _slotgate | { grep -- "^\${words[CURRENT]}" || true; }`,
  fish: 'echo "$SCRIPT" | source; complete -C "$(string join " " -- $argv)" | string replace -r "\\t.*" ""',
} as const;

for (const [shell, driver] of Object.entries(DRIVERS)) {
  const skip = spawnSync(shell, ['-c', 'true']).status === 0 ? false : `there is no ${shell}`;
  t.test(`${shell} offers commands, flags and their values`, { skip }, async (t) => {
    const { code, out } = await runSlotgate(['completion', shell]);
    t.equal(code, 0);
    for (const [words, offered, not] of CASES) {
      const args = shell === 'fish' ? ['-c', driver, ...words] : ['-c', driver, shell, ...words];
      const { stdout, stderr } = spawnSync(shell, args, {
        encoding: 'utf8',
        env: { ...process.env, SCRIPT: out, NODE_OPTIONS: '' },
      });
      const lines = stdout.split('\n').map((line) => line.trim());
      t.same(
        { missing: offered.filter((word) => !lines.includes(word)), wrong: not.filter((word) => lines.includes(word)) },
        { missing: [], wrong: [] },
        `${words.join(' ')}: ${stdout} ${stderr}`,
      );
    }
  });
}

t.test('the scripts are static: each says what the command tree has', async (t) => {
  for (const shell of Object.keys(DRIVERS)) {
    const { out } = await runSlotgate(['completion', shell]);
    for (const word of ['receipt', 'rotate', '--max-age'.slice(shell === 'fish' ? 2 : 0), 'scale', '/balance/'])
      t.match(out, word);
    t.notMatch(out, /undefined|\[object/);
  }
});
