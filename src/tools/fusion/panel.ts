import { GatewayError } from '../../ir/errors.ts';
import type { Item, OutputItem } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { Result } from '../../ir/result.ts';
import { isJsonObject, type JsonObject, readJson } from '../../kit/json/json.ts';
import { objectsAt, stringAt } from '../../kit/json/members.ts';
import type { FoundPage } from '../../web/engines/engine.ts';
import { answerOf, message } from '../nested-request.ts';
import type { ToolContext } from '../server-tool.ts';
import { transcriptOf } from '../transcript.ts';
import type { PanelAnswer } from './analysis.ts';

export interface FailedModel {
  readonly model: string;
  readonly error: string;
  readonly status_code?: number;
}

/** What came of a panel, each list in the order of the models. */
export interface PanelOutcome {
  readonly answers: readonly PanelAnswer[];
  readonly failed: readonly FailedModel[];
  readonly pages: readonly FoundPage[];
}

/** Asks all models of a panel at the same time, and shows the caller what they write. Rejects only if it is aborted. */
export async function askPanel(
  panel: readonly string[],
  requestFor: (model: string) => GenerationRequest,
  context: ToolContext,
): Promise<PanelOutcome> {
  const members = await Promise.all(panel.map((model) => askMember(model, requestFor(model), context)));
  return {
    answers: members.flatMap((member) => ('content' in member ? [pick(member)] : [])),
    failed: members.flatMap((member) => ('error' in member ? [member] : [])),
    pages: unique(members.flatMap((member) => ('content' in member ? member.pages : []))),
  };
}

type Member = FailedModel | (PanelAnswer & { readonly pages: readonly FoundPage[] });

function pick({ model, content }: PanelAnswer): PanelAnswer {
  return { model, content };
}

async function askMember(model: string, request: GenerationRequest, context: ToolContext): Promise<Member> {
  const { signal, showStep } = context;
  showStep('panel.added', { model });
  const result = await resultOf(
    context.leg(request, {
      kind: 'panel',
      signal,
      onText: (delta) => showStep('panel.delta', { model, delta }),
      onThought: (delta) => showStep('panel.reasoning.delta', { model, delta }),
    }),
    signal,
  );
  const answer = answerOf(result);
  if ('error' in answer) {
    const status = statusOf(result);
    // Official clients throw at a member `error` at the top of an event.
    showStep('panel.failed', { model, message: answer.error, ...status });
    return { model, error: answer.error, ...status };
  }
  showStep('panel.completed', { model, content: answer.text });
  return { model, content: answer.text, pages: pagesOf(result.items) };
}

/** The answer of a leg; one that could not begin is a failed answer. Rejects if it is aborted. */
export async function resultOf(leg: Promise<Result>, signal: AbortSignal): Promise<Result> {
  try {
    return await leg;
  } catch (error) {
    if (signal.aborted || !(error instanceof GatewayError)) throw error;
    return { items: [], failure: error };
  }
}

const OUT_OF_CREDITS = 402;

export function statusOf({ failure, finish }: Result): { readonly status_code?: number } {
  if (failure !== undefined) return { status_code: failure.status };
  return finish?.reason === 'budget' ? { status_code: OUT_OF_CREDITS } : {};
}

/** The conversation for a model that has none of the caller's tools. Thoughts are left out. */
export function conversationFor(items: readonly Item[]): readonly Item[] {
  const written = items.filter(({ type }) => type !== 'reasoning');
  if (written.every(({ type }) => type === 'message')) return written;
  const isSystem = (item: Item) =>
    item.type === 'message' && (item.role === 'system' || item.role === 'developer');
  const rest = written.filter((item) => !isSystem(item));
  return [
    ...written.filter(isSystem),
    message('user', `<conversation>\n${transcriptOf(rest)}\n</conversation>`),
  ];
}

/** Pages in the results of web tools, and those that the answer cites. */
function pagesOf(items: readonly OutputItem[]): readonly FoundPage[] {
  return items.flatMap((item): FoundPage[] => {
    if (item.type === 'server-call') return pagesIn(objectOf(item.output ?? ''));
    if (item.type !== 'message') return [];
    return item.content.flatMap((part) =>
      part.type === 'text'
        ? (part.annotations ?? []).flatMap((annotation) =>
            annotation.type === 'url-citation' ? [pageOf(annotation.url, annotation.title)] : [],
          )
        : [],
    );
  });
}

function pagesIn(told: JsonObject): FoundPage[] {
  return [told, ...objectsAt(told, 'results')].flatMap((each) => {
    const url = stringAt(each, 'url');
    return url === undefined ? [] : [pageOf(url, stringAt(each, 'title'))];
  });
}

function pageOf(url: string, title = ''): FoundPage {
  return { url, title, content: '' };
}

function objectOf(text: string): JsonObject {
  const reading = readJson(text);
  return reading.ok && isJsonObject(reading.value) ? reading.value : {};
}

const MAX_PAGES = 100;

function unique(pages: readonly FoundPage[]): readonly FoundPage[] {
  return [...new Map(pages.map((page) => [page.url, page])).values()].slice(0, MAX_PAGES);
}
