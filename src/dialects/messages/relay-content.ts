import type { JsonObject } from '../../kit/json/json.ts';
import type { Report } from '../shared/report/report.ts';
import { isMade } from './citations.ts';
import { imageInText } from './media.ts';
import { withPairedResults } from './paired-results.ts';
import type { PlacedMessage } from './placed-message.ts';
import { isForeignThinking, parseRedacted, parseThinking, renderReasoning } from './reasoning.ts';
import { FOREIGN_CITATIONS, MADE_IMAGE, whyUnsealed } from './render-parts.ts';
import { withoutSystemTurns } from './system-turns.ts';
import type { WireBlock, WireMessage } from './wire.ts';

/** The caller's own messages as an upstream takes them. */
export interface RelayedMessages {
  /** Blocks that the caller wrote into the list and that belong to the system prompt. */
  readonly system: readonly JsonObject[];
  /** The very same list when nothing in it must change. */
  readonly messages: JsonObject[];
}

/** What must change in the caller's own list before an upstream of this dialect may see it. */
export function relayMessages(given: readonly WireMessage[], report: Report): RelayedMessages {
  const placed = given.map((message, index) => ({ message, index }));
  const paired = withPairedResults(placed, report);
  const cleaned = withoutForeignTraces(paired, report);
  const { system, messages } = withoutSystemTurns(cleaned, report);
  const isSame =
    messages.length === given.length && messages.every(({ message }, at) => message === given[at]);
  const sent = isSame ? given : messages.map(({ message }) => message);
  return { system, messages: sent as unknown as JsonObject[] };
}

// --- What this gateway put into earlier turns -----------------------------------------------------------------------

/**
 * Messages without what only this gateway can have put into them when another family answered an earlier turn: an
 * upstream would refuse the whole request for it. The very same list when there is nothing of that kind.
 */
function withoutForeignTraces(messages: readonly PlacedMessage[], report: Report): readonly PlacedMessage[] {
  const cleaned: PlacedMessage[] = [];
  for (const placed of messages) {
    const kept = cleanedMessage(placed, report);
    if (kept !== undefined) cleaned.push(kept);
  }
  const hasTraces = cleaned.length !== messages.length || cleaned.some((each, at) => each !== messages[at]);
  return hasTraces ? cleaned : messages;
}

/** Undefined when nothing is left of it. */
function cleanedMessage(placed: PlacedMessage, report: Report): PlacedMessage | undefined {
  const { message, index } = placed;
  const { content } = message;
  if (typeof content === 'string' || message.role !== 'assistant') return placed;
  const path = `messages[${index}].content`;
  const kept = [...content.entries()].flatMap(([place, block]) =>
    withoutTraces(block, `${path}[${place}]`, report),
  );
  const isSame = kept.length === content.length && kept.every((block, place) => block === content[place]);
  if (isSame) return placed;
  return kept.length === 0 ? undefined : { message: { ...message, content: kept }, index };
}

function withoutTraces(block: WireBlock, path: string, report: Report): WireBlock[] {
  if (isForeignThinking(block)) {
    const item = block.type === 'thinking' ? parseThinking(block) : parseRedacted(block);
    // A chat upstream may have passed on what this family sealed.
    const own = renderReasoning(item);
    if (own !== undefined) return [own as WireBlock];
    report.dropped(path, whyUnsealed(item));
    return [];
  }
  if (block.type === 'text' && imageInText(block.text) !== undefined) {
    report.dropped(path, MADE_IMAGE);
    return [];
  }
  if (block.type !== 'text' || !Array.isArray(block.citations) || !block.citations.some(isMade))
    return [block];
  report.dropped(`${path}.citations`, FOREIGN_CITATIONS);
  return [{ ...block, citations: block.citations.filter((citation) => !isMade(citation)) }];
}
