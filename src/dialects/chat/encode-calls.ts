import type { Event, ItemHead, Seal } from '../../ir/events.ts';
import type { Item, ToolCallItem, ToolKind } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, stringAt, textAt } from '../../kit/json/members.ts';
import { flatArguments, flatToolName } from '../shared/tools/tool-names.ts';
import { writeSeal } from './reasoning.ts';

// --- Calls, whole and in pieces -------------------------------------------------------------------------------------

/** The first delta of a call. */
export function callHead(call: Pick<ToolCallItem, 'callId' | 'kind' | 'name' | 'namespace'>): JsonObject {
  const name = call.namespace === undefined ? call.name : flatToolName(call.name, call.namespace);
  return call.kind === 'custom'
    ? { id: call.callId, type: 'custom', custom: { name, input: '' } }
    : { id: call.callId, type: 'function', function: { name, arguments: '' } };
}

export function callInput(kind: ToolKind, text: string): JsonObject {
  return kind === 'custom' ? { custom: { input: text } } : { function: { arguments: text } };
}

export function renderToolCall(call: ToolCallItem, index: number): JsonObject {
  const head = callHead(call);
  const body =
    call.kind === 'custom'
      ? { custom: { ...(head.custom as JsonObject), input: call.input } }
      : { function: { ...(head.function as JsonObject), arguments: call.input } };
  return { index, ...head, ...body, ...call.ext?.chat };
}

/**
 * The call in a form that the caller accepts: free text for a tool that was not declared as free-text becomes the
 * argument of a function, because clients expect free-text calls only of tools that they declared so.
 */
export function asDeclared(item: Item, request: GenerationRequest): Item {
  if (item.type !== 'tool-call' || !isUnexpected(item, request)) return item;
  return { ...item, kind: 'function', input: flatArguments(item) };
}

/** True for a free-text call of a tool that the request does not declare to take free text. */
export function isUnexpected(call: Pick<ToolCallItem, 'kind' | 'name'>, request: GenerationRequest): boolean {
  if (call.kind !== 'custom') return false;
  return !request.tools.some((tool) => tool.type === 'custom' && tool.name === call.name);
}

/** The seal of a call: an encrypted detail that bears the call's id. */
export function callSeal(callId: string, seal: Seal): JsonObject {
  const { format, givenBy } = seal;
  const signature = seal.signature ?? seal.encrypted ?? '';
  const data = writeSeal(signature, { signature, format, givenBy });
  return compact({ type: 'reasoning.encrypted', data, id: callId, format });
}

/**
 * True for callers of the format's first generation: they declare `functions` and read `function_call`. Callers that
 * declare tools read `tool_calls`, whatever else the body has.
 */
export function speaksLegacyCalls({ body: { functions }, tools }: GenerationRequest): boolean {
  return Array.isArray(functions) && functions.length > 0 && tools.length === 0;
}

// --- Calls of a stream ----------------------------------------------------------------------------------------------

type CallHead = Extract<ItemHead, { type: 'tool-call' }>;

interface Step {
  readonly index: number;
  readonly id: string | undefined;
  readonly name?: string;
  readonly input?: string;
}

/** The calls that a stream has written: each has its own index, in the order of their starts. */
export class SentCalls {
  /** Index of each call item, and the call id at each index. */
  readonly #indexes = new Map<number, number>();
  readonly #ids: string[] = [];

  begin(item: number, { callId }: CallHead): number {
    const index = this.#ids.push(callId) - 1;
    this.#indexes.set(item, index);
    return index;
  }

  indexOf(item: number): number | undefined {
    return this.#indexes.get(item);
  }

  /**
   * True if the entries of an upstream's `tool_calls` mean exactly the decoded events, in a form that every client
   * reads. `events`: the events of the chunk, none of them written yet.
   */
  areSaidBy(entries: Json | undefined, events: readonly Event[]): boolean {
    if (entries === undefined || entries === null) return true;
    if (!Array.isArray(entries)) return false;
    const said = entries.map((entry) => this.#said(entry));
    if (!said.every((steps) => steps !== undefined)) return false;
    return JSON.stringify(said.flat()) === JSON.stringify(this.#meant(events));
  }

  /** The steps in an entry; undefined if some client could not read it. */
  #said(entry: Json): Step[] | undefined {
    if (!isJsonObject(entry) || typeof entry.index !== 'number') return undefined;
    const { index } = entry;
    const custom = objectAt(entry, 'custom');
    const body = custom ?? objectAt(entry, 'function');
    const given = body?.[custom === undefined ? 'arguments' : 'input'];
    if (given !== undefined && given !== null && typeof given !== 'string') return undefined;
    const input = given ?? '';
    const name = textAt(body, 'name');
    if (name !== undefined) {
      const id = textAt(entry, 'id');
      return textAt(entry, 'type') === undefined
        ? undefined
        : [{ index, id, name }, ...(input === '' ? [] : [{ index, id, input }])];
    }
    const known = this.#ids[index];
    const isOther = known === undefined || (stringAt(entry, 'id') || known) !== known;
    if (isOther || body?.name !== undefined) return undefined;
    return input === '' ? [] : [{ index, id: known, input }];
  }

  #meant(events: readonly Event[]): Step[] {
    const begun = new Map<number, Step>();
    return events.flatMap((event): Step[] => {
      if (event.type === 'item-start' && event.head.type === 'tool-call') {
        const { callId: id, name } = event.head;
        const step = { index: this.#ids.length + begun.size, id, name };
        begun.set(event.item, step);
        return [step];
      }
      if (event.type !== 'tool-input-delta') return [];
      const index = begun.get(event.item)?.index ?? this.#indexes.get(event.item) ?? -1;
      return [{ index, id: begun.get(event.item)?.id ?? this.#ids[index], input: event.text }];
    });
  }
}
