import type { Item, MessageItem } from '../../ir/items.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { withoutForeignFiles } from '../shared/media/foreign-files.ts';
import { pairCalls } from '../shared/pairing/pair-calls.ts';
import type { Report } from '../shared/report/report.ts';
import {
  LAST_SYSTEM_AS_USER,
  SYSTEM_BETWEEN_TURNS,
  splitSystemPrompts,
} from '../shared/requests/system-messages.ts';
import { facts } from './facts.ts';
import type { RenderContext } from './render-context.ts';
import { NO_FIELD } from './render-losses.ts';
import { PartRenderer } from './render-parts.ts';
import type { WireRole } from './wire.ts';

/** The conversation as an upstream of this dialect takes it. */
export interface RenderedConversation {
  readonly system: JsonObject[];
  readonly messages: JsonObject[];
}

/** System prompts at the front become `system`; everything else becomes turns. */
export function renderConversation(context: RenderContext): RenderedConversation {
  const { request, report } = context;
  const paired = pairCalls(request.items, report);
  const items = withoutForeignFiles(paired, facts.request.fileStore, report);
  const { prompts, asUser, turns: rest } = splitSystemPrompts(items);
  const turns = new Turns(context);
  const system: JsonObject[] = [];
  for (const prompt of prompts) {
    for (const block of turns.systemBlocks(prompt)) system.push(block);
  }
  if (asUser !== undefined) turns.addPromptAsUser(asUser);
  for (const item of rest) turns.add(item);
  return { system, messages: turns.messages() };
}

/** Collects blocks into turns of alternating roles. */
class Turns {
  readonly #turns: { readonly role: WireRole; readonly blocks: JsonObject[] }[] = [];
  readonly #blocks: PartRenderer;
  readonly #report: Report;

  constructor(context: RenderContext) {
    this.#blocks = new PartRenderer(context);
    this.#report = context.report;
  }

  add(item: Item): void {
    this.#push(...this.#turnOf(item));
  }

  /** A conversation of system prompts alone needs a turn: the last of them speaks as the user. */
  addPromptAsUser(prompt: MessageItem): void {
    const blocks = this.#messageBlocks(prompt, 'user');
    if (blocks.length > 0) {
      this.#report.coerced(this.#report.place(prompt, 'items'), LAST_SYSTEM_AS_USER);
    }
    this.#push('user', blocks);
  }

  systemBlocks(prompt: MessageItem): JsonObject[] {
    return this.#messageBlocks(prompt, 'system');
  }

  /** Turns in order; in a user turn the results of tools come first, as upstreams demand. */
  messages(): JsonObject[] {
    return this.#turns.map(({ role, blocks }) => ({
      role,
      content:
        role === 'user'
          ? [...blocks.filter(isToolResult), ...blocks.filter((b) => !isToolResult(b))]
          : blocks,
    }));
  }

  #push(role: WireRole, blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === role) for (const block of blocks) last.blocks.push(block);
    else this.#turns.push({ role, blocks: [...blocks] });
  }

  #turnOf(item: Item): [WireRole, JsonObject[]] {
    switch (item.type) {
      case 'message':
        return this.#messageTurn(item);
      case 'reasoning':
        return ['assistant', this.#blocks.reasoning(item)];
      case 'tool-call':
        return ['assistant', this.#blocks.toolUse(item)];
      case 'tool-result':
        return ['user', this.#blocks.toolResult(item)];
      case 'image':
        return ['assistant', this.#blocks.image(item)];
      case 'opaque':
        return [roleOf(item.role), this.#blocks.opaque(item)];
    }
  }

  #messageTurn(item: MessageItem): [WireRole, JsonObject[]] {
    const { role } = item;
    if (role === 'user' || role === 'assistant') return [role, this.#messageBlocks(item, role)];
    const blocks = this.#messageBlocks(item, 'user');
    if (blocks.length === 0) return ['user', []];
    this.#report.coerced(this.#report.place(item, 'items'), SYSTEM_BETWEEN_TURNS);
    return ['user', [{ type: 'text', text: '<system>' }, ...blocks, { type: 'text', text: '</system>' }]];
  }

  /** Ids and states of messages mean nothing to an upstream that keeps none. */
  #messageBlocks(item: MessageItem, speaker: WireRole): JsonObject[] {
    this.#blocks.reportForeignMembers(item);
    if (item.phase !== undefined) {
      this.#report.dropped(this.#report.place(item, 'items', 'phase'), NO_FIELD);
    }
    return this.#blocks.parts(item.content, speaker);
  }
}

function isToolResult(block: JsonObject): boolean {
  return block.type === 'tool_result';
}

function roleOf(role: string | undefined): WireRole {
  return role === 'user' || role === 'system' ? role : 'assistant';
}
