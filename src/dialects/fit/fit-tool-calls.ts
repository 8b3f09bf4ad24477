import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import type { UpstreamDialect } from '../dialect.ts';
import { Report } from '../shared/report/report.ts';
import type { FittedRequest } from './fit-reasoning.ts';

/** What the reservation pays for of the tools of upstreams. */
interface PaidTools {
  /** Calls; undefined = unlimited. */
  readonly toolCalls?: number | undefined;
  /** Types of tools that the endpoint has no price for; undefined = none. */
  readonly withoutTools?: ReadonlySet<string> | undefined;
}

/** Leaves out tools of upstreams that are not paid for, and limits the calls of the others. */
export function fitTools(
  request: GenerationRequest,
  paid: PaidTools | undefined,
  upstream: Pick<UpstreamDialect, 'hosted'>,
): FittedRequest {
  if (paid?.withoutTools === undefined) return fitToolCalls(request, paid?.toolCalls, upstream);
  const priced = fitPricedTools(request, paid.withoutTools);
  const fitted = fitToolCalls(priced.request, paid.toolCalls, upstream);
  return { request: fitted.request, report: [...priced.report, ...fitted.report] };
}

function fitToolCalls(
  request: GenerationRequest,
  most: number | undefined,
  { hosted }: Pick<UpstreamDialect, 'hosted'>,
): FittedRequest {
  if (most === undefined || hosted?.bound === undefined) return { request, report: NO_ENTRIES };
  const bounded = hosted.bound(request, most);
  const entry: TranslationEntry = {
    field: bounded.field,
    action: 'coerced',
    detail: `at most ${most} calls of the upstream's own tools, what the limits of the key still pay for`,
  };
  return { request: bounded.request, report: [entry] };
}

/** `kinds`: the types of tools, and the fields, that are left out. */
function fitPricedTools(asked: GenerationRequest, kinds: ReadonlySet<string>): FittedRequest {
  const report = new Report(asked);
  const request = kinds.has('fallbacks') ? withoutOwnFallbacks(asked, report) : asked;
  const tools = request.tools.filter((tool) => {
    if (tool.type !== 'hosted' || !kinds.has(tool.kind)) return true;
    report.dropped(report.place(tool, 'tools'), unpriced(tool.kind));
    return false;
  });
  const { tools: written } = request.body;
  if (!Array.isArray(written)) return { request: { ...request, tools }, report: report.entries };
  const kept = written.filter((tool) => !isJsonObject(tool) || !kinds.has(String(tool.type)));
  return { request: { ...request, tools, body: { ...request.body, tools: kept } }, report: report.entries };
}

/** Without the models that the upstream would fall back to by itself. */
function withoutOwnFallbacks(request: GenerationRequest, report: Report): GenerationRequest {
  const { fallbacks, ...own } = request.ext.messages ?? {};
  if (fallbacks === undefined) return request;
  report.dropped('fallbacks', unpriced('the models that it falls back to'));
  return { ...request, ext: { ...request.ext, messages: own } };
}

function unpriced(what: string): string {
  return `the upstream bills ${what} and has no price for it, so no limit of the key could hold it back`;
}
