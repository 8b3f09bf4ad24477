import type { Item, Part } from '../../../ir/items.ts';
import { middleCut } from '../../../kit/text/middle-cut.ts';
import type { ItemUnit } from './units.ts';

/** Stands where text was cut out. */
const MARK = '\n[...]\n';

/** A text that would keep fewer characters is not worth keeping. */
const MIN_KEPT_CHARACTERS = 100;

/** A unit whose longest text is shorter by so many characters, cut out of its middle; undefined: it is too short. */
export function cutOut(unit: ItemUnit, characters: number): ItemUnit | undefined {
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
