import { isJsonObject, type Json } from '../../kit/json.ts';
import { stringAt } from '../../kit/members.ts';
import { labelOfResult, WITHOUT_CALL } from '../pair-calls.ts';
import type { Report } from '../report.ts';
import type { WireBlock, WireMessage } from './wire.ts';

/** Relayed messages without results that answer no call: the user says them. The same list when there are none. */
export function withoutOrphans(messages: readonly WireMessage[], report: Report): readonly WireMessage[] {
  const called = new Set<unknown>();
  let isSame = true;
  const said = messages.map((message, index): WireMessage => {
    const { content } = message;
    if (typeof content === 'string') return message;
    for (const { type, id } of content) if (type === 'tool_use') called.add(id);
    const isOrphan = ({ type, tool_use_id: id }: WireBlock) => type === 'tool_result' && !called.has(id);
    if (!content.some(isOrphan)) return message;
    isSame = false;
    return {
      ...message,
      content: content.flatMap((block, place) =>
        isOrphan(block) ? asSaid(block, `messages[${index}].content[${place}]`, report) : [block],
      ),
    };
  });
  return isSame ? messages : said;
}

/** Blocks that stand only in results. */
const INNER_BLOCKS: ReadonlySet<unknown> = new Set(['tool_reference']);

function asSaid(block: WireBlock, path: string, report: Report): WireBlock[] {
  report.coerced(path, WITHOUT_CALL);
  const label = labelOfResult(stringAt(block, 'tool_use_id') ?? '', block.is_error === true);
  const said = [{ type: 'text', text: label }, ...blocksIn(block.content)];
  const last = said.at(-1);
  return last === undefined || !isJsonObject(block.cache_control)
    ? said
    : said.with(-1, { ...last, cache_control: block.cache_control });
}

function blocksIn(content: Json | undefined): WireBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((inner) => {
    const type = isJsonObject(inner) ? stringAt(inner, 'type') : undefined;
    return type === undefined || INNER_BLOCKS.has(type) ? [] : [{ ...(inner as WireBlock), type }];
  });
}
