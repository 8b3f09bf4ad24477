import type { Item, Part, ToolCallItem, ToolResultItem } from '../../ir/items.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import { NO_RESULT, WITHOUT_CALL, WITHOUT_RESULT } from '../shared/pairing/pair-calls.ts';
import { ownId } from './ids.ts';
import type { RenderContext } from './render-context.ts';
import { reportLostMembers } from './render-losses.ts';
import type { PartRenderer } from './render-parts.ts';
import { textPart, type WirePart } from './wire.ts';

/** Results of the calls of one turn. */
export interface RenderedResults {
  /** One `functionResponse` for each call, in the order of the calls: upstreams pair them by that. */
  readonly responses: WirePart[];
  /** What a response cannot hold, for the user to say right after them. */
  readonly attachments: WirePart[];
}

/** Results of calls with one id, and how many of them were looked at. */
interface Queue {
  readonly items: ToolResultItem[];
  next: number;
}

/** Gives each call its result. A result is given once; results without a call are left over. */
export class Results {
  readonly #context: RenderContext;
  readonly #renderer: PartRenderer;
  /** By the id of the call. */
  readonly #queues = new Map<string, Queue>();
  readonly #given = new Set<ToolResultItem>();

  constructor(items: readonly Item[], context: RenderContext, renderer: PartRenderer) {
    this.#context = context;
    this.#renderer = renderer;
    for (const item of items) {
      if (item.type !== 'tool-result') continue;
      const same = this.#queues.get(item.callId);
      if (same === undefined) this.#queues.set(item.callId, { items: [item], next: 0 });
      else same.items.push(item);
    }
  }

  /** The results of the calls of a turn. Upstreams refuse a turn whose calls are not all answered. */
  answer(calls: readonly ToolCallItem[]): RenderedResults {
    const rendered: RenderedResults = { responses: [], attachments: [] };
    for (const call of calls) {
      const result = this.#take(call.callId);
      if (result === undefined) rendered.responses.push(this.#missing(call));
      else this.#add(result, call, rendered);
    }
    return rendered;
  }

  /** A result without its call, as what the user says; nothing when its call had it. */
  leftOver(item: ToolResultItem): WirePart[] {
    if (this.#given.has(item)) return [];
    this.#given.add(item);
    const { report } = this.#context;
    reportLostMembers(item, 'items', report);
    report.coerced(report.place(item, 'items'), WITHOUT_CALL);
    return [textPart(labelOf(item)), ...this.#renderer.parts(item.content)];
  }

  #take(callId: string): ToolResultItem | undefined {
    const queue = this.#queues.get(callId);
    while (queue !== undefined && queue.next < queue.items.length) {
      const item = queue.items[queue.next++];
      if (item === undefined || this.#given.has(item)) continue;
      this.#given.add(item);
      return item;
    }
    return undefined;
  }

  #missing(call: ToolCallItem): WirePart {
    const { report, names } = this.#context;
    report.coerced(report.place(call, 'items'), WITHOUT_RESULT);
    return {
      functionResponse: { ...ownId(call.callId), name: names.nameOf(call), response: { error: NO_RESULT } },
    };
  }

  #add(item: ToolResultItem, call: ToolCallItem, { responses, attachments }: RenderedResults): void {
    const { names, report, traits } = this.#context;
    reportLostMembers(item, 'items', report);
    const said = this.#renderer.parts(item.content.filter(isWords));
    const words = said.flatMap(({ text }) => text ?? []);
    const media = this.#renderer.parts(item.content.filter((part) => !isWords(part)));
    const isNested = (part: WirePart) => traits.takesMediaInResults && isJsonObject(part.inlineData);
    const nested = media.filter(isNested);
    const outside = media.filter((part) => !isNested(part));
    responses.push({
      functionResponse: {
        ...ownId(call.callId),
        name: names.nameOf(call),
        response: { [item.isError === true ? 'error' : 'output']: words.join('\n') },
        ...(nested.length > 0 && { parts: nested }),
      },
    });
    if (outside.length === 0) return;
    report.coerced(
      report.place(item, 'items'),
      'the result holds content that the upstream takes only from users: it follows in a user turn',
    );
    for (const part of [textPart(labelOf(item)), ...outside]) attachments.push(part);
  }
}

function isWords(part: Part): boolean {
  return part.type === 'text' || part.type === 'refusal';
}

function labelOf(item: ToolResultItem): string {
  return `${item.isError === true ? 'Error' : 'Output'} of tool call ${item.callId}:`;
}
