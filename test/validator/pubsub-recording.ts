import { isDeepStrictEqual } from 'node:util';

/** One notification, with its value as JSON. */
interface Notified {
  readonly slot: number;
  readonly value: string;
}

/** What one client was notified of, by subject: `account ADDRESS COMMITMENT`, `logs …`, `signature …`, `slot`, `root`. */
export class Recording {
  readonly #bySubject = new Map<string, Notified[]>();

  add(subject: string, slot: number | bigint, value: unknown): void {
    const text = JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? Number(member) : member));
    const notified = this.#bySubject.get(subject) ?? [];
    this.#bySubject.set(subject, notified);
    notified.push({ slot: Number(slot), value: text });
  }

  get subjects(): readonly string[] {
    return [...this.#bySubject.keys()];
  }

  of(subject: string): readonly Notified[] {
    return this.#bySubject.get(subject) ?? [];
  }

  last(subject: string): string | undefined {
    return this.of(subject).at(-1)?.value;
  }
}

/** How what a gateway notified of compares with what its node did. */
interface ComparedRecordings {
  /** The numbers of notifications with the slot and the value of the node's, by kind. */
  readonly same: Readonly<Record<string, number>>;
  /** The numbers of those with a value that the node named at a slot nearby. */
  readonly nearby: Readonly<Record<string, number>>;
  readonly differences: readonly string[];
}

/** A gateway reads the bytes of what a node parses, at the slot of that read. */
const NEARBY_SLOTS = 8;

/**
 * Compares the slots that both were notified of; a node omits what changes while it is busy, and so does a gateway. A lossy
 * client may miss the notification of a transaction, from a node too.
 */
export function compareRecordings(node: Recording, gateway: Recording, isLossy: boolean): ComparedRecordings {
  const same: Record<string, number> = {};
  const nearby: Record<string, number> = {};
  const differences: string[] = [];
  for (const subject of node.subjects) {
    const [kind = ''] = subject.split(' ');
    const [atNode, throughGateway] = [node.of(subject), gateway.of(subject)];
    const count = (counts: Record<string, number>): void => {
      counts[kind] = (counts[kind] ?? 0) + 1;
    };
    const differ = (what: string): void => void differences.push(`${subject}: ${what}`);
    const slots = throughGateway.map(({ slot }) => slot);
    const isInOrder = isDeepStrictEqual(
      slots,
      slots.toSorted((a, b) => a - b),
    );
    if (!isInOrder) differ(`a slot goes back: ${slots}`);
    if (kind === 'signature' && throughGateway.length === 0 && isLossy) continue;
    if (kind === 'signature') {
      // A node names the slot at which it looks, a gateway the one of the transaction.
      const isSame = throughGateway.length === 1 && throughGateway[0]?.value === atNode[0]?.value;
      if (isSame && (slots[0] ?? 0) <= (atNode[0]?.slot ?? 0)) count(slots[0] === atNode[0]?.slot ? same : nearby);
      else differ(JSON.stringify({ atNode, throughGateway }));
      continue;
    }
    const from = Math.max(atNode[0]?.slot ?? 0, slots[0] ?? 0);
    const until = Math.min(atNode.at(-1)?.slot ?? 0, slots.at(-1) ?? 0);
    const inBoth = ({ slot }: Notified): boolean => slot > from && slot < until;
    for (const notified of throughGateway.filter(inBoth)) {
      const isNearby = ({ slot, value }: Notified): boolean =>
        value === notified.value && Math.abs(slot - notified.slot) <= NEARBY_SLOTS;
      if (atNode.some((each) => isDeepStrictEqual(each, notified))) count(same);
      else if (kind === 'account' && atNode.some(isNearby)) count(nearby);
      else {
        const expected = atNode.filter(({ slot }) => slot === notified.slot);
        differ(`${JSON.stringify(notified).slice(0, 300)} in place of ${JSON.stringify(expected).slice(0, 300)}`);
      }
    }
    // A node may notify of a transaction twice; a gateway never does.
    const expected = new Set(atNode.filter(inBoth).map((each) => JSON.stringify(each))).size;
    const given = throughGateway.filter(inBoth).length;
    if (kind === 'logs' && given !== expected) differ(`${given} of ${expected} transactions`);
  }
  return { same, nearby, differences };
}
