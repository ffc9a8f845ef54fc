/** A symbol of version 3 with error correction L and mask 0. ISO/IEC 18004; the longest address leaves 9 of its bytes free. */
const SIZE = 29;
const DATA_BYTES = 55;
const CHECK_BYTES = 15;

/** The 15 bits that name error correction L and mask 0. */
const FORMAT = 0b111011111000100;
const BYTE_MODE = 4;
const FILLERS = [0xec, 0x11] as const;

/** Modules that are dark; undefined where data belongs. */
type Grid = (boolean | undefined)[][];

/** Returns the rows of the QR code of an ASCII text of at most 53 characters: true for a dark module. */
export function qrCode(text: string): readonly (readonly boolean[])[] {
  const data = dataBytes(text);
  const bytes = [...data, ...checkBytes(data)];
  const grid = fixedModules();
  let bit = 0;
  // in columns of two from the right, upwards and downwards in turn; the sixth column is no data
  for (const [column, right] of [28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 5, 3, 1].entries())
    for (let step = 0; step < SIZE; step++)
      for (const x of [right, right - 1]) {
        const y = column % 2 === 0 ? SIZE - 1 - step : step;
        const row = grid[y] ?? [];
        if (row[x] !== undefined) continue;
        const isSet = (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
        row[x] = isSet !== ((x + y) % 2 === 0);
        bit++;
      }
  return grid.map((row) => row.map((isDark) => isDark === true));
}

/** Writes the mode, the length and the characters, and fills up the rest. */
function dataBytes(text: string): readonly number[] {
  const codes = [...text].map((character) => character.charCodeAt(0));
  const halves = [
    BYTE_MODE,
    codes.length >> 4,
    codes.length & 15,
    ...codes.flatMap((code) => [code >> 4, code & 15]),
    0,
  ];
  const bytes: number[] = [];
  for (let at = 0; at < halves.length; at += 2) bytes.push(((halves[at] ?? 0) << 4) | (halves[at + 1] ?? 0));
  for (let at = 0; bytes.length < DATA_BYTES; at++) bytes.push(FILLERS[at % 2] ?? 0);
  return bytes;
}

/** Returns what is left of the data after division by the generator polynomial: the code of Reed and Solomon. */
function checkBytes(data: readonly number[]): readonly number[] {
  const generator: number[] = [...Array(CHECK_BYTES - 1).fill(0), 1];
  let root = 1;
  for (let degree = 0; degree < CHECK_BYTES; degree++) {
    for (let at = 0; at < CHECK_BYTES; at++) generator[at] = times(generator[at] ?? 0, root) ^ (generator[at + 1] ?? 0);
    root = times(root, 2);
  }
  let rest: number[] = Array(CHECK_BYTES).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest = generator.map((coefficient, at) => (rest[at + 1] ?? 0) ^ times(coefficient, factor));
  }
  return rest;
}

/** Multiplies in the field of 256 elements whose polynomial is x^8 + x^4 + x^3 + x^2 + 1. */
function times(a: number, b: number): number {
  let product = 0;
  for (let at = 7; at >= 0; at--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> at) & 1) * a);
  return product;
}

/** Draws what each symbol of this version has: patterns that are found, and the format beside them. */
function fixedModules(): Grid {
  const grid: Grid = Array.from({ length: SIZE }, () => Array(SIZE).fill(undefined));
  const set = (x: number, y: number, isDark: boolean): void => {
    const row = grid[y];
    if (row !== undefined && x >= 0 && x < SIZE) row[x] = isDark;
  };
  /** Rings around a centre; of the outermost one nothing is seen at an edge. */
  const draw = (centreX: number, centreY: number, radius: number): void => {
    for (let dx = -radius; dx <= radius; dx++)
      for (let dy = -radius; dy <= radius; dy++) {
        const ring = Math.max(Math.abs(dx), Math.abs(dy));
        set(centreX + dx, centreY + dy, radius === 4 ? ring !== 2 && ring !== 4 : ring !== 1);
      }
  };
  for (let at = 0; at < SIZE; at++) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  draw(3, 3, 4);
  draw(SIZE - 4, 3, 4);
  draw(3, SIZE - 4, 4);
  draw(22, 22, 2);
  for (let at = 0; at < 15; at++) {
    const isDark = ((FORMAT >> at) & 1) === 1;
    set(8, at < 6 ? at : at < 8 ? at + 1 : SIZE - 15 + at, isDark);
    set(at < 8 ? SIZE - 1 - at : at === 8 ? 7 : 14 - at, 8, isDark);
  }
  set(8, SIZE - 8, true);
  return grid;
}
