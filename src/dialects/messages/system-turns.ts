import type { JsonObject } from '../../kit/json/json.ts';
import type { Report } from '../shared/report/report.ts';
import { LAST_SYSTEM_AS_USER, SYSTEM_BETWEEN_TURNS } from '../shared/requests/system-messages.ts';
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
  return { system: lead.flatMap(({ message }) => blocksOf(message)), messages: turns.end() };
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
  readonly #messages: PlacedMessage[] = [];
  /** The last turn where others may become part of it. */
  #open: OpenTurn | undefined;

  add(placed: PlacedMessage): void {
    const isUser = placed.message.role === 'user';
    if (isUser && this.#open?.isMade === true) this.#open.members.push(placed);
    else {
      this.#close();
      if (isUser) this.#open = { members: [placed], isMade: false };
      else this.#messages.push(placed);
    }
  }

  addMade(placed: PlacedMessage): void {
    if (placed.message.content.length === 0) return;
    this.#open ??= { members: [], isMade: true };
    this.#open.members.push(placed);
    this.#open.isMade = true;
  }

  end(): readonly PlacedMessage[] {
    this.#close();
    return this.#messages;
  }

  #close(): void {
    const members = this.#open?.members ?? [];
    this.#open = undefined;
    const [first] = members;
    if (first === undefined) return;
    this.#messages.push(members.length === 1 ? first : joined(members, first.index));
  }
}

/** Messages of the user that are to be one. */
interface OpenTurn {
  readonly members: PlacedMessage[];
  /** It holds what was made. */
  isMade: boolean;
}

function joined(members: readonly PlacedMessage[], index: number): PlacedMessage {
  const blocks = members.flatMap(({ message }) => blocksOf(message));
  const content = [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
  return { message: { role: 'user', content }, index };
}

function isResult({ type }: WireBlock): boolean {
  return type === 'tool_result';
}

/** Content as blocks; upstreams refuse empty text. */
export function blocksOf({ content }: WireMessage): readonly WireBlock[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}
