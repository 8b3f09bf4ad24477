import { PROVIDER_TABLE } from '../../../src/catalog/providers/provider-table.ts';
import type { Tier } from '../../../src/catalog/service-tier.ts';
import type { RenderTarget } from '../../../src/dialects/dialect.ts';
import { DIALECTS, FORMATS } from '../../../src/dialects/dialects.ts';
import { fitTier } from '../../../src/dialects/fit/fit-tier.ts';
import { GatewayError } from '../../../src/ir/errors.ts';
import type { DialectName, Format } from '../../../src/ir/items.ts';
import type { TranslationEntry } from '../../../src/ir/metadata.ts';
import type { GenerationRequest } from '../../../src/ir/request.ts';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { compileValidator } from '../../../src/kit/json/validate.ts';
import { holds, type RequestFeature } from './request-feature.ts';
import { LOST, type Verdict } from './verdict.ts';

export const VENDOR = 'signalbox';

/** An endpoint of each dialect; for bedrock and gemini with the most common models. */
const MODELS: Readonly<Record<DialectName, string>> = {
  responses: 'gpt-large',
  messages: 'claude-large',
  chat: 'large',
  gemini: 'gemini-3-flash',
  bedrock: 'anthropic.claude-large-v1:0',
};

/** The endpoint of the tables: for the messages dialect Anthropic's own. */
export function targetOf(upstream: DialectName, more: Partial<RenderTarget> = {}): RenderTarget {
  const quirks = upstream === 'messages' ? PROVIDER_TABLE.anthropic?.quirks : undefined;
  return {
    model: MODELS[upstream],
    hashUser: (id) => `hash-of-${id.length}`,
    ...(quirks !== undefined && { quirks }),
    ...more,
  };
}

/** How a request goes out: relayed as the caller wrote it, or translated. */
export type Lane = 'relay' | 'translate';

/** What became of a request. */
export interface SentRequest {
  readonly verdict: Verdict | typeof LOST;
  readonly report: readonly TranslationEntry[];
  /** Absent when it was refused. */
  readonly body?: JsonObject;
  /** Why it was refused. */
  readonly refusal?: GatewayError;
}

const validators = Object.fromEntries(
  FORMATS.map(({ name, inbound }) => [name, compileValidator(inbound.requestSchema(VENDOR))]),
) as Readonly<Record<Format, ReturnType<typeof compileValidator>>>;

/** What is wrong with a body of a format. */
export function issuesOf(format: Format, body: JsonObject): readonly unknown[] {
  return validators[format].issuesOf(body);
}

export function parse(format: Format, body: JsonObject): GenerationRequest {
  return DIALECTS[format].inbound.parseRequest(body, { vendor: VENDOR });
}

/** The lanes of a pair: equal formats are relayed, unless a plugin needs the content. */
export function lanesOf(format: Format, upstream: DialectName): Lane[] {
  return format === upstream ? ['relay', 'translate'] : ['translate'];
}

/** Renders a request and judges by the result whether the feature arrived. */
export function send(
  feature: Pick<RequestFeature, 'arrives'>,
  body: JsonObject,
  format: Format,
  upstream: DialectName,
  lane: Lane,
): SentRequest {
  try {
    const request = parse(format, body);
    const dialect = DIALECTS[upstream].upstream;
    if (dialect === undefined) throw new Error(`no upstream dialect ${upstream}`);
    const { renderRequest, renderRelay = renderRequest } = dialect;
    const render = lane === 'relay' ? renderRelay : renderRequest;
    const fitted = fitTier(request, tierOf(request), DIALECTS[upstream].facts);
    const rendered = render(fitted.request, targetOf(upstream));
    const report = [...fitted.report, ...rendered.report];
    const sent = JSON.parse(JSON.stringify(rendered.body)) as JsonObject;
    const arrived = holds(feature.arrives[upstream], sent);
    return { verdict: judge(arrived, report), report, body: sent };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    return { verdict: 'refused', report: [], refusal: error };
  }
}

/** The tables show endpoints of the tier that a request asks for. */
function tierOf({ serviceTier, speed }: GenerationRequest): Tier | undefined {
  return serviceTier === 'priority' || speed === 'fast' ? 'priority' : undefined;
}

function judge(arrived: boolean, report: readonly TranslationEntry[]): SentRequest['verdict'] {
  if (arrived) return report.every(({ action }) => action === 'passed_on') ? 'kept' : 'adapted';
  return report.length === 0 ? LOST : 'dropped';
}

/** True when a path of the report leads to something in the caller's body. */
export function leadsSomewhere(path: string, body: JsonObject): boolean {
  let value: unknown = body;
  for (const step of path.split(/\.|\[(\d+)\]/).filter((part) => part !== undefined && part !== '')) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Record<string, unknown>)[step];
  }
  return value !== undefined;
}
