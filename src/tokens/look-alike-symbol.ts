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
 * characters count for nothing, and a letter of another script is the one that it looks like.
 */
export function readingsOf(text: string): ReadonlySet<string> {
  const spelled = text.slice(0, MAX_LENGTH).normalize('NFKD');
  const spellings = spelled.includes('rn') ? [spelled, spelled.replaceAll('rn', 'm')] : [spelled];
  return new Set(spellings.flatMap((spelling) => READINGS.map((reading) => read(spelling, reading))));
}

const read = (text: string, reading: Readonly<Record<string, string>>): string =>
  [...text]
    .map((character) => LETTER_OF.get(character) ?? (reading[character] ?? character).toUpperCase())
    .filter((character) => /^[A-Z0-9]$/.test(character))
    .join('');
