import type { Item, Part } from '../../../ir/items.ts';
import { middleCut } from '../../../kit/text/middle-cut.ts';
import { type ItemUnit, isAnswer, isInstructions, messagesIn, unitsOf } from './units.ts';

/** Stands where text was cut out. */
const MARK = '\n[...]\n';

/** A text that would keep fewer characters is not worth keeping. */
const MIN_KEPT_CHARACTERS = 100;

export interface Weights {
  of(item: Item): number;
  readonly tokensPerCharacter: number;
}

/**
 * A conversation without its middle: instructions and the last other unit stay, and from both ends as many units as
 * fit into so many tokens. What room is left goes to the next unit at the end, whose longest text loses its own middle.
 * If not even instructions and that last unit fit, they are all that is left.
 */
export function middleOut(items: readonly Item[], tokens: number, weights: Weights): Item[] {
  const weigh = (unit: ItemUnit) => unit.reduce((sum, item) => sum + weights.of(item), 0);
  const { units, last, kept, middle } = split(items);
  let left = tokens - units.reduce((sum, unit) => (kept.has(unit) ? sum + weigh(unit) : sum), 0);
  const rest = fromBothEnds(middle, (unit) => {
    const weight = weigh(unit);
    if (weight > left) return false;
    left -= weight;
    kept.add(unit);
    return true;
  });
  const next = rest.at(-1);
  const shorter = next && cutOut(next, Math.floor((weigh(next) - left) / weights.tokensPerCharacter));
  return joined(units, last, kept, shorter && new Map([[next as ItemUnit, shorter]]));
}

/**
 * A conversation of at most so many messages: instructions and the last other unit stay, and half of the rest at each
 * end.
 */
export function middleOutMessages(items: readonly Item[], messages: number): Item[] {
  const { units, last, kept, middle } = split(items);
  let left = messages - units.reduce((sum, unit) => (kept.has(unit) ? sum + messagesIn(unit) : sum), 0);
  fromBothEnds(middle, (unit) => {
    const count = messagesIn(unit);
    if (count > left) return false;
    left -= count;
    kept.add(unit);
    return true;
  });
  return joined(units, last, kept);
}

export function countMessages(items: readonly Item[]): number {
  return messagesIn(items);
}

/** Units, and which of them stay whatever the room: clients end conversations with instructions too. */
function split(items: readonly Item[]) {
  const units = unitsOf(items);
  const last = units.findLast((unit) => !isInstructions(unit));
  const kept = new Set(units.filter((unit) => unit === last || isInstructions(unit)));
  return { units, last, kept, middle: units.filter((unit) => !kept.has(unit)) };
}

/**
 * Offers units in turn from the beginning and from the end, each side until one is refused. Returns what is left. The
 * beginning is first, because the last unit stays anyway.
 */
function fromBothEnds(middle: readonly ItemUnit[], take: (unit: ItemUnit) => boolean): readonly ItemUnit[] {
  let from = 0;
  let to = middle.length;
  let isEndOpen = true;
  let isBeginOpen = true;
  while (from < to && (isEndOpen || isBeginOpen)) {
    if (isBeginOpen) {
      isBeginOpen = take(middle[from] as ItemUnit);
      if (isBeginOpen) from += 1;
    }
    if (isEndOpen && from < to) {
      isEndOpen = take(middle[to - 1] as ItemUnit);
      if (isEndOpen) to -= 1;
    }
  }
  return middle.slice(from, to);
}

/**
 * The kept units, in order. A conversation that began with a question does not begin with an answer, unless the answer
 * is `last`, which stays.
 */
function joined(
  units: readonly ItemUnit[],
  last: ItemUnit | undefined,
  kept: ReadonlySet<ItemUnit>,
  shortened: ReadonlyMap<ItemUnit, ItemUnit> = new Map(),
): Item[] {
  const first = units.find((unit) => !isInstructions(unit));
  let mayBegin = first === undefined || isAnswer(first);
  return units.flatMap((unit) => {
    const stays = kept.has(unit) ? unit : shortened.get(unit);
    if (stays === undefined) return [];
    if (isInstructions(unit)) return stays;
    mayBegin ||= unit === last || !isAnswer(unit);
    return mayBegin ? stays : [];
  });
}

/** A unit whose longest text is shorter by so many characters, cut out of its middle; undefined: it is too short. */
function cutOut(unit: ItemUnit, characters: number): ItemUnit | undefined {
  const longest = longestText(unit);
  if (longest === undefined) return undefined;
  const { text } = longest.part;
  const kept = text.length - characters - MARK.length;
  if (kept < MIN_KEPT_CHARACTERS) return undefined;
  const shorter = middleCut(text, kept + MARK.length, MARK);
  // Positions in the text are no longer valid.
  const { annotations: _, logprobs: __, ...rest } = longest.part;
  return unit.map((item) => {
    if (item !== longest.item) return item;
    const content = item.content.map(
      (part): Part => (part === longest.part ? { ...rest, text: shorter } : part),
    );
    return { ...item, content };
  });
}

type TextPart = Extract<Part, { type: 'text' }>;
type ItemWithParts = Extract<Item, { type: 'message' | 'tool-result' }>;

function longestText(unit: ItemUnit): { readonly item: ItemWithParts; readonly part: TextPart } | undefined {
  let longest: { readonly item: ItemWithParts; readonly part: TextPart } | undefined;
  for (const item of unit) {
    if (item.type !== 'message' && item.type !== 'tool-result') continue;
    for (const part of item.content) {
      if (part.type !== 'text' || part.text.length <= (longest?.part.text.length ?? 0)) continue;
      longest = { item, part };
    }
  }
  return longest;
}
