import type { ItemHead } from '../../ir/events.ts';
import type { OutputItem } from '../../ir/items.ts';
import { stringAt } from '../../kit/json/members.ts';

import { hostedItemOf, ID_PREFIXES } from './wire.ts';

/** Ids of an answer and its items, all made from the generation id. */

/** Upstream ids that may be passed on: letters, digits and base64 punctuation alone. */
const PLAIN_ID = /^[A-Za-z0-9_.:+/=-]{1,512}$/;

/** The part of a generation id that cannot be guessed. */
function randomPartOf(generationId: string): string {
  return generationId.slice(generationId.lastIndexOf('-') + 1);
}

export function responseId(generationId: string): string {
  return `resp_${randomPartOf(generationId)}`;
}

/** Gives items their ids: the upstream's if it is plain and unique, else one made from the position. */
export class ItemIds {
  readonly #root: string;
  readonly #taken = new Set<string>();

  constructor(generationId: string) {
    this.#root = randomPartOf(generationId);
  }

  /** `prefix`: beginning of an id that is made here. */
  idFor(thing: ItemHead | OutputItem, position: number, prefix = prefixOf(thing)): string {
    const own = thing.type === 'opaque' ? ownIdOfOpaque(thing) : 'id' in thing ? thing.id : undefined;
    const id =
      own !== undefined && PLAIN_ID.test(own) && !this.#taken.has(own)
        ? own
        : `${prefix}${this.#root}_${position}`;
    this.#taken.add(id);
    return id;
  }
}

function ownIdOfOpaque(thing: Extract<ItemHead | OutputItem, { type: 'opaque' }>): string | undefined {
  return stringAt('item' in thing ? thing.item.value : thing.value, 'id');
}

function prefixOf(thing: ItemHead | OutputItem): string {
  switch (thing.type) {
    case 'tool-call':
      return ID_PREFIXES[thing.kind];
    case 'server-call':
      return hostedItemOf(thing)?.idPrefix ?? ID_PREFIXES[thing.type];
    case 'tool-result':
      return ID_PREFIXES.opaque;
    default:
      return ID_PREFIXES[thing.type];
  }
}
