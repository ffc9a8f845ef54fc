/**
 * Letters of other scripts that look like a Latin one, in either case. What Unicode counts as a form of the letter itself
 * (full-width, mathematical, with an accent) is not listed, since normalization finds it.
 * https://www.unicode.org/Public/security/latest/confusables.txt
 */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  A: 'ΑАᎪꓮᴀαаɑ⍺ꭺ',
  B: 'ΒВᏴꓐʙвβЬьƄƅᏏ',
  C: 'СϹᏟꓚᴄсϲⲤⲥꮯ',
  D: 'ᎠꓓᴅԁᏧꭰ',
  E: 'ΕЕᎬꓰᴇеҽ℮ε⋿',
  F: 'ϜꓝꞘꞙẝ',
  G: 'ԌᏀᏳꓖɢɡցԍ',
  H: 'ΗНᎻꓧʜһҺհⲎн',
  I: 'ΙІӀꓲɪіιıⵏᎥ∣ǀⲒǃ',
  J: 'ЈᎫꓙᴊјϳͿʝ',
  K: 'ΚКᏦꓗᴋкκⲔ',
  L: 'ᏞꓡʟӏԼⳐꮮ',
  M: 'ΜМᎷꓟᴍмϺⲘ',
  N: 'ΝꓠɴⲚոηռ',
  O: 'ΟОՕꓳᴏоοօσⲞჿ०০೦ഠ๐',
  P: 'ΡРᏢꓑᴘрρⲢ⍴',
  Q: 'ԚԛզႭ',
  R: 'ᎡᏒꓣʀƦᴦгꭱ',
  S: 'ЅՏᏚꓢꜱѕᏕꮪ',
  T: 'ΤТᎢꓔᴛтτⲦ⊤',
  U: 'Սꓴᴜսυ∪ሀʋ',
  V: 'ᏙꓦᴠѵνѴ∨ꮩ',
  W: 'ᎳᏔꓪᴡԝѡԜ',
  X: 'ΧХꓫхχⲬ᙭╳×',
  Y: 'ΥҮꓬʏуүγУ',
  Z: 'ΖᏃꓜᴢꮓ',
};

const LETTER_OF = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, others]) => [...others].map((other) => [other, letter] as const)),
);

/** The length of a text that is read: a symbol is shorter, but invisible characters may pad it. */
const MAX_LENGTH = 1024;

/** What a character may be read as beside itself, where that is more than one letter. */
const READINGS: readonly Readonly<Record<string, string>>[] = [
  { l: 'I', '1': 'I', '|': 'I', '0': 'O', $: 'S' },
  { l: 'L', '1': 'L', '|': 'L', '0': 'O', $: 'S' },
  { l: 'I', '1': 'I', '|': 'I', '0': 'O' },
  { l: 'L', '1': 'L', '|': 'L', '0': 'O' },
];

/**
 * Returns the symbols that a text may be read as, in capital Latin letters and digits: accents, spaces, signs and invisible
 * characters count for nothing, and a letter of another script is the one that it looks like. Readings that are longer
 * than `mostLetters` are left out, so that a long text costs no more than a short one.
 */
export function readingsOf(text: string, mostLetters = MAX_LENGTH): ReadonlySet<string> {
  const spelled = text.slice(0, MAX_LENGTH).normalize('NFKD');
  const spellings = spelled.includes('rn') ? [spelled, spelled.replaceAll('rn', 'm')] : [spelled];
  const readings = spellings.flatMap((spelling) => {
    const letters = lettersOf(spelling);
    return READINGS.map((reading) => read(letters, reading, mostLetters));
  });
  return new Set(readings.filter((each) => each !== undefined));
}

/** Returns the characters of a text that some reading counts, a letter of another script as the one that it looks like. */
function lettersOf(text: string): readonly string[] {
  const letters: string[] = [];
  for (const character of text) {
    const letter = LETTER_OF.get(character) ?? character;
    if (/^[A-Z0-9|$]$/.test(letter.toUpperCase())) letters.push(letter);
  }
  return letters;
}

function read(
  letters: readonly string[],
  reading: Readonly<Record<string, string>>,
  mostLetters: number,
): string | undefined {
  let read = '';
  for (const letter of letters) {
    const readAs = (reading[letter] ?? letter).toUpperCase();
    if (!/^[A-Z0-9]$/.test(readAs)) continue;
    if (read.length === mostLetters) return undefined;
    read += readAs;
  }
  return read;
}
