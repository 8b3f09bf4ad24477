import type { Event, Finish } from '../../../ir/events.ts';
import { mapTexts } from '../texts/map-texts.ts';

/** Characters of text in the events of a leg: an independent count of what scanning has to cover. */
export function receivedCharacters(events: readonly Event[]): number {
  let count = 0;
  for (const event of events) count += charactersOf(event);
  return count;
}

function charactersOf(event: Event): number {
  switch (event.type) {
    case 'text-delta':
    case 'tool-input-delta':
      return event.text.length;
    case 'annotation':
      return charactersIn(event.annotation);
    case 'item-start':
    case 'item-end':
    case 'part-start':
    case 'opaque':
    case 'image-data':
      return charactersIn(event);
    case 'finish':
      return charactersIn(textsOf(event));
    case 'relay':
      return receivedCharacters(event.events);
    default:
      return 0;
  }
}

/** The members of an end that are text. */
export function textsOf({
  nativeReason,
  stopSequence,
  category,
  explanation,
  serviceTier,
  ext,
}: Finish): Partial<Finish> {
  return {
    ...(nativeReason !== undefined && { nativeReason }),
    ...(category !== undefined && { category }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(stopSequence !== undefined && { stopSequence }),
    ...(explanation !== undefined && { explanation }),
    ...(ext !== undefined && { ext }),
  };
}

function charactersIn(value: object): number {
  let count = 0;
  mapTexts(value, (text) => {
    count += text.length;
    return text;
  });
  return count;
}
