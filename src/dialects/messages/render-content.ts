import type { JsonObject } from '../../kit/json/json.ts';
import { alternatingTurns } from '../shared/blocks/alternating-turns.ts';
import { withoutForeignFiles } from '../shared/media/foreign-files.ts';
import { pairCalls } from '../shared/pairing/pair-calls.ts';
import { facts } from './facts.ts';
import type { RenderContext } from './render-context.ts';
import { PartRenderer } from './render-parts.ts';

export interface RenderedConversation {
  readonly system: JsonObject[];
  readonly messages: JsonObject[];
}

/** System prompts at the front become `system`; everything else becomes turns. */
export function renderConversation(context: RenderContext): RenderedConversation {
  const { request, target, report } = context;
  const paired = pairCalls(request.items, report);
  const items = withoutForeignFiles(paired, facts.request.conversation.fileStore, report);
  const systemRole = target.quirks?.takesSystemTurns === true ? 'system' : undefined;
  const { system, turns } = alternatingTurns(items, new PartRenderer(context), report, systemRole);
  const messages = turns.map(({ role, pieces, prompt }) => ({
    role,
    ...prompt?.ext?.messages,
    content: role === 'user' ? resultsFirst(pieces) : [...pieces],
  }));
  return { system, messages };
}

// --- Results of calls -----------------------------------------------------------------------------------------------

/** Upstreams require tool results at the beginning of a user turn. */
function resultsFirst(blocks: readonly JsonObject[]): JsonObject[] {
  return [...blocks.filter(isToolResult), ...blocks.filter((block) => !isToolResult(block))];
}

function isToolResult(block: JsonObject): boolean {
  return block.type === 'tool_result';
}
