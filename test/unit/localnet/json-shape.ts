/** Types of the values in a JSON text by path, those of a list's elements together. */
export type Shape = ReadonlyMap<string, ReadonlySet<string>>;

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const FLOAT = '\u0001float';
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,}$/;

/**
 * Reads the shape of JSON. The type of an object is the names of its members in their order; integers and other numbers
 * are two types, by their notation. Members named by addresses count as one member.
 */
export function shapeOf(text: string): Shape {
  const marked = text.replace(TOKEN, (token) =>
    token.startsWith('"') || !/[.eE]/.test(token) ? token : JSON.stringify(FLOAT),
  );
  const shape = new Map<string, Set<string>>();
  const visit = (path: string, value: unknown): void => {
    const types = shape.get(path) ?? new Set();
    shape.set(path, types.add(shapeTypeOf(value)));
    if (Array.isArray(value)) for (const item of value) visit(`${path}[]`, item);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) visit(`${path}.${memberName(name)}`, member);
    }
  };
  visit('', JSON.parse(marked));
  return shape;
}

const memberName = (name: string): string => (BASE58.test(name) ? '*' : name);

function shapeTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === FLOAT) return 'float';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'object') return `{${Object.keys(value).map(memberName).join(' ')}}`;
  return typeof value === 'number' ? 'integer' : typeof value;
}

/** Lists the differences of two shapes, one line per path. A path below a missing one is not listed again. */
export function shapeDifferences(expected: Shape, actual: Shape): string[] {
  const lines: string[] = [];
  for (const path of new Set([...expected.keys(), ...actual.keys()])) {
    const parent = path.slice(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('[]'), 0));
    if (path !== '' && (!expected.has(parent) || !actual.has(parent))) continue;
    const [wanted, found] = [expected, actual].map((shape) => [...(shape.get(path) ?? ['nothing'])].sort().join(' | '));
    if (wanted !== found) lines.push(`${path || '.'}: ${wanted} -> ${found}`);
  }
  return lines;
}

/** Lists the differences of two response bodies, JSON or not. */
export function responseDifferences(expected: string, actual: string): string[] {
  if (!expected.startsWith('{') || !actual.startsWith('{')) {
    return expected === actual ? [] : [`${expected} -> ${actual}`];
  }
  const [wanted, found] = [expected, actual].map(errorOf);
  return [
    ...shapeDifferences(shapeOf(expected), shapeOf(actual)),
    ...(wanted === undefined || found === undefined || wanted === found ? [] : [`${wanted} -> ${found}`]),
    ...(expected.endsWith('\n') === actual.endsWith('\n') ? [] : ['the line feed at the end']),
  ];
}

/** Returns code and message of an error response. */
function errorOf(answer: string): string | undefined {
  const { error } = JSON.parse(answer);
  return error && `${error.code} ${withoutNumbersAndAddresses(error.message)}`;
}

/** Removes numbers and addresses from a text, which differ from chain to chain. */
const withoutNumbersAndAddresses = (text: string): string =>
  text.replace(/[1-9A-HJ-NP-Za-km-z]{32,}/g, '@').replace(/\d+/g, '#');
