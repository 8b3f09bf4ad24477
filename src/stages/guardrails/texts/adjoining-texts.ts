import type { Item } from '../../../ir/items.ts';
import type { GenerationRequest } from '../../../ir/request.ts';
import type { Sliced } from '../../../kit/loop/turns.ts';
import { mapRequest, type TextRole } from './request-texts.ts';

/** A text of an item that a model reads as prose. */
export interface ItemText {
  readonly item: Item;
  /** Its place among such texts of the item. */
  readonly ordinal: number;
  readonly text: string;
  readonly role: TextRole;
}

/** Members of parts that hold such texts: `data` is that of a text file. */
const PROSE_MEMBERS: ReadonlySet<string> = new Set(['text', 'refusal', 'summary', 'data']);

/** Collects the texts of items while a request is walked, in order, by the chain that they belong to. */
export class AdjoiningItemTexts {
  readonly #chains: ItemText[][] = [];
  /** The chains that the next item may go on with. */
  #open = new Map<string, ItemText[]>();
  #item: Item | undefined;
  #row: string | undefined;
  #ordinal = 0;

  add(text: string, role: TextRole, item: Item | string, member: string): void {
    if (typeof item === 'string') return;
    if (item !== this.#item) this.#begin(item, role);
    if (!PROSE_MEMBERS.has(member)) return;
    const key = member === 'summary' ? member : 'text';
    const each = { item, ordinal: this.#ordinal++, text, role };
    const chain = this.#open.get(key);
    if (chain !== undefined) chain.push(each);
    else {
      const begun = [each];
      this.#open.set(key, begun);
      this.#chains.push(begun);
    }
  }

  /** The chains of two texts or more. */
  get chains(): readonly (readonly ItemText[])[] {
    return this.#chains.filter(({ length }) => length > 1);
  }

  #begin(item: Item, role: TextRole): void {
    const row = rowOf(item, role);
    if (row === undefined || row !== this.#row) this.#open = new Map();
    this.#row = row;
    this.#item = item;
    this.#ordinal = 0;
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

/** The request with some texts of items replaced: for each item by their ordinals. */
export function* withItemTexts(
  request: GenerationRequest,
  replaced: ReadonlyMap<Item, ReadonlyMap<number, string>>,
): Sliced<GenerationRequest> {
  const ordinals = new Map<Item, number>();
  return yield* mapRequest(request, {
    change: (text, _role, item, member) => {
      if (typeof item === 'string' || !PROSE_MEMBERS.has(member)) return text;
      const ordinal = ordinals.get(item) ?? 0;
      ordinals.set(item, ordinal + 1);
      return replaced.get(item)?.get(ordinal) ?? text;
    },
    changedJson: () => {},
  });
}
