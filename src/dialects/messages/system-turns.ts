import type { JsonObject } from '../../kit/json.ts';
import type { Report } from '../report.ts';
import { LAST_SYSTEM_AS_USER, SYSTEM_BETWEEN_TURNS } from '../system-messages.ts';
import type { PlacedMessage } from './placed-message.ts';
import type { WireBlock, WireMessage } from './wire.ts';

/** A conversation without turns of the system, and what of it belongs to the system prompt. */
export interface WithoutSystemTurns {
  readonly system: readonly JsonObject[];
  readonly messages: readonly PlacedMessage[];
}

/**
 * Agents put system prompts into the list of messages, where upstreams know only users and assistants. Those at the front
 * go to the system prompt; others stay at their place as user text.
 */
export function withoutSystemTurns(messages: readonly PlacedMessage[], report: Report): WithoutSystemTurns {
  if (!messages.some(isSystem)) return { system: [], messages };
  const firstTurn = messages.findIndex((placed) => !isSystem(placed));
  // A conversation of system prompts alone needs a turn: the last of them speaks as the user.
  const lead = messages.slice(0, firstTurn === -1 ? messages.length - 1 : firstTurn);
  const turns = new UserTurns();
  for (const placed of messages.slice(lead.length)) {
    const isLast = firstTurn === -1;
    if (!isSystem(placed)) turns.add(placed);
    else turns.addMade(isLast ? asUser(placed, report) : asUserText(placed, report));
  }
  return { system: lead.flatMap(({ message }) => blocksOf(message)), messages: turns.messages };
}

function isSystem({ message }: PlacedMessage): boolean {
  return message.role === 'system';
}

function asUser({ message, index }: PlacedMessage, report: Report): PlacedMessage {
  report.coerced(`messages[${index}]`, LAST_SYSTEM_AS_USER);
  return { message: { ...message, role: 'user' }, index };
}

function asUserText({ message, index }: PlacedMessage, report: Report): PlacedMessage {
  const blocks = blocksOf(message);
  if (blocks.length === 0) return { message: { role: 'user', content: [] }, index };
  report.coerced(`messages[${index}]`, SYSTEM_BETWEEN_TURNS);
  const content = [{ type: 'text', text: '<system>' }, ...blocks, { type: 'text', text: '</system>' }];
  return { message: { role: 'user', content }, index };
}

/** Collects turns; what was made of a system prompt becomes part of the user's turn beside it, after results of tools. */
class UserTurns {
  readonly messages: PlacedMessage[] = [];
  /** The last turn holds what was made. */
  #isMade = false;

  add(placed: PlacedMessage): void {
    if (this.#isMade && placed.message.role === 'user') this.#join(placed);
    else {
      this.messages.push(placed);
      this.#isMade = false;
    }
  }

  addMade(placed: PlacedMessage): void {
    if (placed.message.content.length === 0) return;
    if (this.messages.at(-1)?.message.role === 'user') this.#join(placed);
    else this.messages.push(placed);
    this.#isMade = true;
  }

  #join({ message }: PlacedMessage): void {
    const last = this.messages.pop();
    if (last === undefined) return;
    const blocks = [...blocksOf(last.message), ...blocksOf(message)];
    const content = [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
    this.messages.push({ message: { role: 'user', content }, index: last.index });
  }
}

function isResult({ type }: WireBlock): boolean {
  return type === 'tool_result';
}

/** Content as blocks; upstreams refuse empty text. */
export function blocksOf({ content }: WireMessage): readonly WireBlock[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}
