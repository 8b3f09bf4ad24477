import type { JsonObject } from '../../kit/json.ts';
import type { Report } from '../report.ts';
import { isMade } from './citations.ts';
import { isForeignThinking } from './reasoning.ts';
import type { WireBlock, WireMessage } from './wire.ts';

/**
 * Messages without what only this gateway can have put into them when another family answered an earlier turn: an
 * upstream would refuse the whole request for it. Undefined when there is nothing of that kind.
 */
export function withoutForeignTraces(
  messages: readonly WireMessage[],
  report: Report,
): JsonObject[] | undefined {
  let hasTraces = false;
  const cleaned = messages.flatMap((message): WireMessage[] => {
    if (typeof message.content === 'string' || message.role !== 'assistant') return [message];
    const content = message.content.flatMap(withoutTraces);
    const isSame =
      content.length === message.content.length &&
      content.every((block, index) => block === message.content[index]);
    if (isSame) return [message];
    hasTraces = true;
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  if (!hasTraces) return undefined;
  report.dropped(report.name('items'), 'reasoning and citations of another model family in earlier turns');
  return cleaned as unknown as JsonObject[];
}

function withoutTraces(block: WireBlock): WireBlock[] {
  if (isForeignThinking(block)) return [];
  if (block.type !== 'text' || !Array.isArray(block.citations) || !block.citations.some(isMade))
    return [block];
  return [{ ...block, citations: block.citations.filter((citation) => !isMade(citation)) }];
}
