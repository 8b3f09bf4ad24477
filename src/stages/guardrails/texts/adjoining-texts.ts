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

/** Lists that hold texts of the caller: stop sequences, parts of a prediction, and values that a schema allows. */
const LISTS: Readonly<Record<string, ReadonlySet<string>>> = {
  sampling: new Set(['stop']),
  ext: new Set(['text']),
  tools: new Set(['enum', 'examples', 'const']),
  outputFormat: new Set(['enum', 'examples', 'const']),
};

/** Lists of values. Numbers in a row there, such as the sizes of pictures, often look like one of a telephone. */
const OF_VALUES: ReadonlySet<string> = new Set(['tools', 'outputFormat']);

const NUMERAL = /^[+-]?\d+(?:\.\d+)?$/;

function isAdjoining(text: string, owner: Item | string, member: string): boolean {
  if (typeof owner !== 'string') return PROSE_MEMBERS.has(member);
  return LISTS[owner]?.has(member) === true && !(OF_VALUES.has(owner) && NUMERAL.test(text));
}

/** Numbers the adjoining texts of each owner. */
class Ordinals {
  readonly #counts = new Map<Item | string, number>();

  next(owner: Item | string): number {
    const ordinal = this.#counts.get(owner) ?? 0;
    this.#counts.set(owner, ordinal + 1);
    return ordinal;
  }
}

/** Collects adjoining texts while a request is walked, in order, by the chain that they belong to. */
export class AdjoiningTextsOf {
  readonly #chains: AdjoiningText[][] = [];
  /** The chains that the next text may go on with, by the list or the voice and the member. */
  readonly #open = new Map<string, AdjoiningText[]>();
  #owner: Item | string | undefined;
  readonly #ordinals = new Ordinals();

  add(text: string, role: TextRole, owner: Item | string, member: string): void {
    const isNew = owner !== this.#owner;
    this.#owner = owner;
    if (!isAdjoining(text, owner, member)) {
      // Another list may begin.
      if (typeof owner === 'string') this.#open.clear();
      return;
    }
    const each = { owner, ordinal: this.#ordinals.next(owner), text, role };
    if (typeof owner === 'string') {
      if (isNew) this.#open.clear();
      this.#goOn(member, each);
      return;
    }
    const voice = voiceOf(owner, role);
    if (isNew && voice === 'none') this.#close((other) => other === 'none');
    // Upstreams get no blank texts of their own, and some none of the thoughts or rules between two messages.
    if (text.trim() !== '') this.#close((other) => !NEVER_CLOSED.has(other) && !isBetween(voice, other));
    else if (!this.#open.has(keyOf(voice, member))) return;
    this.#goOn(keyOf(voice, member), each);
  }

  /** The chains of two texts or more. */
  get chains(): readonly (readonly AdjoiningText[])[] {
    return this.#chains.filter(({ length }) => length > 1);
  }

  #goOn(key: string, text: AdjoiningText): void {
    const chain = this.#open.get(key);
    if (chain !== undefined) chain.push(text);
    else {
      const begun = [text];
      this.#open.set(key, begun);
      this.#chains.push(begun);
    }
  }

  #close(isOver: (voice: Voice) => boolean): void {
    for (const key of this.#open.keys()) {
      if (isOver(key.slice(0, key.indexOf(' ')) as Voice)) this.#open.delete(key);
    }
  }
}

/** Whose words stand beside each other; `none` = those of one item only. */
type Voice = 'user' | 'assistant' | 'system' | 'results' | 'thoughts' | 'none';

/** Some upstreams get all rules of a conversation as one text. */
const NEVER_CLOSED: ReadonlySet<Voice> = new Set(['system']);

/** Whether what follows a text of a voice may still go on from what stands before it, in another voice or its own. */
function isBetween(voice: Voice, other: Voice): boolean {
  return voice === other || voice === 'system' || voice === 'thoughts';
}

function voiceOf({ type }: Item, role: TextRole): Voice {
  switch (type) {
    case 'message':
    case 'opaque':
      // Upstreams that know no developers read their messages among those of the system.
      return role === 'developer' ? 'system' : role === 'tool' ? 'results' : role;
    case 'tool-result':
      return 'results';
    case 'reasoning':
      return 'thoughts';
    default:
      return 'none';
  }
}

function keyOf(voice: Voice, member: string): string {
  return `${voice} ${member === 'summary' ? member : 'text'}`;
}

/** The request with some adjoining texts replaced: for each owner by their ordinals. */
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
