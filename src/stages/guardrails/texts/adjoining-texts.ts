import type { Item } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { Sliced } from '../../../kit/loop/turns.ts';
import { mapRequest, type TextRole } from './request-texts.ts';

/** A text that stands beside others: of an item, if a model reads it as prose, or of a member of the request. */
export interface AdjoiningText {
  readonly owner: Item | string;
  /** Its place among such texts of the owner. */
  readonly ordinal: number;
  readonly text: string;
  readonly role: TextRole;
}

/** Members of parts that hold such texts: `data` is that of a text file. */
const PROSE_MEMBERS: ReadonlySet<string> = new Set(['text', 'refusal', 'summary', 'data']);

/** Lists that hold texts of the caller: stop sequences, values that a schema allows, and parts of a prediction. */
const LISTS: Readonly<Record<string, ReadonlySet<string>>> = {
  sampling: new Set(['stop']),
  tools: new Set(['enum', 'examples']),
  outputFormat: new Set(['enum', 'examples']),
  ext: new Set(['text']),
};

/** Numbers in a row, such as the sizes of pictures, often look like one of a telephone. */
const NUMERAL = /^[+-]?\d+(?:\.\d+)?$/;

function isAdjoining(text: string, owner: Item | string, member: string): boolean {
  if (typeof owner !== 'string') return PROSE_MEMBERS.has(member);
  return LISTS[owner]?.has(member) === true && !NUMERAL.test(text);
}

/** Numbers such texts of each owner. */
class Ordinals {
  readonly #counts = new Map<Item | string, number>();

  next(owner: Item | string): number {
    const ordinal = this.#counts.get(owner) ?? 0;
    this.#counts.set(owner, ordinal + 1);
    return ordinal;
  }
}

/** Collects such texts while a request is walked, in order, by the chain that they belong to. */
export class AdjoiningTextsOf {
  readonly #chains: AdjoiningText[][] = [];
  /** The chains that the next text may go on with. */
  #open = new Map<string, AdjoiningText[]>();
  #owner: Item | string | undefined;
  #row: string | undefined;
  readonly #ordinals = new Ordinals();

  add(text: string, role: TextRole, owner: Item | string, member: string): void {
    if (owner !== this.#owner) this.#begin(owner, role);
    if (!isAdjoining(text, owner, member)) {
      // Another list may begin.
      if (typeof owner === 'string') this.#open.clear();
      return;
    }
    const key = typeof owner === 'string' || member === 'summary' ? member : 'text';
    const each = { owner, ordinal: this.#ordinals.next(owner), text, role };
    const chain = this.#open.get(key);
    if (chain !== undefined) chain.push(each);
    else {
      const begun = [each];
      this.#open.set(key, begun);
      this.#chains.push(begun);
    }
  }

  /** The chains of two texts or more. */
  get chains(): readonly (readonly AdjoiningText[])[] {
    return this.#chains.filter(({ length }) => length > 1);
  }

  #begin(owner: Item | string, role: TextRole): void {
    const row = typeof owner === 'string' ? undefined : rowOf(owner, role);
    if (row === undefined || row !== this.#row) this.#open = new Map();
    this.#row = row;
    this.#owner = owner;
  }
}

/** Items of one row stand beside each other; undefined = an item of no row. */
function rowOf({ type }: Item, role: TextRole): string | undefined {
  switch (type) {
    case 'message':
    case 'opaque':
      // Upstreams that know no developers read their messages among those of the system.
      return `message ${role === 'developer' ? 'system' : role}`;
    case 'tool-result':
    case 'reasoning':
      return type;
    default:
      return undefined;
  }
}

/** The request with some such texts replaced: for each owner by their ordinals. */
export function* withAdjoiningTexts(
  request: GenerationRequest,
  replaced: ReadonlyMap<Item | string, ReadonlyMap<number, string>>,
): Sliced<GenerationRequest> {
  const ordinals = new Ordinals();
  return yield* mapRequest(request, {
    change: (text, _role, owner, member) => {
      if (!isAdjoining(text, owner, member)) return text;
      return replaced.get(owner)?.get(ordinals.next(owner)) ?? text;
    },
    changedJson: () => {},
  });
}
