import Type from 'typebox';
import { FUSION, fusionTeam } from '../../catalog/fusion-team.ts';
import type { Item } from '../../ir/items.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import { boundedText } from '../../kit/json/bounded-json.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { compact, objectAt, stringAt } from '../../kit/json/members.ts';
import { closed, nullish, oneOf } from '../../kit/json/schema.ts';
import { countText } from '../../kit/text/count-text.ts';
import { answerOf, MODEL_PARAMETERS, message, nestedRequest } from '../nested-request.ts';
import type { ServerTool, ToolContext, ToolOutcome, ToolSettings } from '../server-tool.ts';
import { transcriptOf } from '../transcript.ts';
import { webFetch } from '../web-fetch.ts';
import { webSearch } from '../web-search.ts';
import {
  ANALYSIS_FORMAT,
  analysisOf,
  JUDGE_INSTRUCTIONS,
  judgeQuestion,
  type PanelAnswer,
} from './analysis.ts';
import { depthHeaders } from './fusion-depth.ts';
import { askPanel, conversationFor, type FailedModel, resultOf, statusOf } from './panel.ts';

const { tools, reasoning, temperature, max_completion_tokens } = MODEL_PARAMETERS;

/** Calls of tools by each model of a panel, and by the judge. */
const DEFAULT_TOOL_CALLS = 8;

/** Longest answer of each model, tokens, unless the request says otherwise. */
const DEFAULT_OUTPUT_TOKENS = 16_000;

/** Sends one request to a panel of models, has a judge compare the answers, and gives the model the comparison. */
export const fusion: ServerTool = {
  name: FUSION,
  callsModels: true,
  isTimedByLegs: true,
  parameters: closed({
    analysis_models: nullish(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 8 }),
    ),
    model: MODEL_PARAMETERS.model,
    max_tool_calls: nullish(Type.Integer({ minimum: 1, maximum: 16, default: DEFAULT_TOOL_CALLS })),
    max_completion_tokens,
    reasoning,
    temperature,
    tools,
    cache_control: nullish(closed({ type: Type.Literal('ephemeral'), ttl: nullish(oneOf(['5m', '1h'])) })),
  }),
  unavailable(parameters, settings) {
    const { panel } = fusionTeam(parameters, settings.fusion, settings.catalog);
    return panel.length === 0
      ? { message: 'there is no model for a panel: name analysis_models' }
      : undefined;
  },
  declare: () => ({
    description:
      'Asks several other models the same question at once and compares their answers. Use it once, for a question ' +
      'that is worth several opinions. Without a prompt they are asked the conversation itself.',
    parameters: {
      type: 'object',
      properties: {
        prompt: { type: 'string', description: 'The question, with all that is needed to answer it' },
      },
    },
  }),
  async run({ arguments: asked, parameters, uses }, context) {
    if (uses > 0) return failure('fusion was already used in this answer', 'fusion_invocation_capped');
    return fused(stringAt(asked, 'prompt'), parameters, context);
  },
};

async function fused(
  prompt: string | undefined,
  parameters: JsonObject,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { request, settings, note } = context;
  const [outer = ''] = request.models;
  const { panel, judge } = fusionTeam({ model: outer, ...parameters }, settings.fusion, settings.catalog);
  const question = prompt === undefined ? conversationFor(request.items) : [message('user', prompt)];
  const requestFor = memberRequests(parameters, context);
  const { answers, failed, pages } = await askPanel(panel, (model) => requestFor(model, question), context);
  const failures =
    failed.length === 0 ? {} : { failed_models: failed.map((each): JsonObject => ({ ...each })) };
  const noted = { panel: [...panel], judge, ...failures };
  if (answers.length === 0) {
    const reason = reasonOf(failed);
    note({ type: 'plugin', name: FUSION, summary: 'No model of the panel has answered', data: noted });
    return failure('no model of the panel has answered', reason, failures);
  }
  const judged = await judgement(judge, requestFor, prompt ?? transcriptOf(question), answers, context);
  const counts = `${answers.length} of ${countText(panel.length, 'model')} ${answers.length === 1 ? 'has' : 'have'} answered`;
  note({
    type: 'plugin',
    name: FUSION,
    summary:
      'error' in judged
        ? `${counts}, without an analysis: ${judged.error}`
        : `${counts}, ${judge} has judged`,
    data: { ...noted, ...('error' in judged && { failure_reason: judged.failure_reason }) },
  });
  const { resultCharacters } = settings.web.limits;
  const share = Math.floor(resultCharacters / 2 / answers.length);
  const analysis = 'analysis' in judged ? { analysis: judged.analysis } : {};
  const told = {
    status: 'ok',
    ...analysis,
    responses: answers.map(({ model, content }) => ({ model, content: boundedText(content, share) })),
    ...failures,
  };
  const sources = pages.map(({ title, url }) => ({ title, url }));
  return {
    output: JSON.stringify(told),
    shown: {
      ...judged,
      responses: answers.map((each): JsonObject => ({ ...each })),
      ...failures,
      ...(sources.length > 0 && { sources }),
    },
    pages,
  };
}

/** The judge's analysis, or why there is none. The answers are worth something without it. */
type Judgement =
  | { readonly analysis: JsonObject }
  | { readonly error: string; readonly failure_reason: string };

async function judgement(
  judge: string,
  requestFor: MemberRequests,
  request: string,
  answers: readonly PanelAnswer[],
  context: ToolContext,
): Promise<Judgement> {
  const { signal, showStep } = context;
  showStep('analysis.in_progress', { judge_model: judge });
  const items = [message('system', JUDGE_INSTRUCTIONS), message('user', judgeQuestion(request, answers))];
  const asked = {
    ...requestFor(judge, items, { temperature: 0 }),
    ...(takesSchema(judge, context.settings) && { outputFormat: ANALYSIS_FORMAT }),
  };
  const result = await resultOf(context.leg(asked, { kind: 'judge', signal }), signal);
  const answer = answerOf(result);
  if ('error' in answer) {
    const isUnpaid = statusOf(result).status_code === 402;
    const error = `the judge gave no answer: ${answer.error}`;
    return { error, failure_reason: isUnpaid ? 'judge_insufficient_credits' : 'judge_failed' };
  }
  const analysis = analysisOf(answer.text);
  return analysis === undefined
    ? { error: 'the judge gave no JSON analysis', failure_reason: 'judge_invalid_analysis' }
    : { analysis };
}

type MemberRequests = (model: string, items: readonly Item[], settings?: JsonObject) => GenerationRequest;

function memberRequests(parameters: JsonObject, { request, settings }: ToolContext): MemberRequests {
  const { model: _, analysis_models: __, preset: ___, cache_control: cache, ...shared } = parameters;
  const ttl = stringAt(objectAt(parameters, 'cache_control'), 'ttl') as '5m' | '1h' | undefined;
  return (model, items, more = {}) => {
    const own: JsonObject = {
      max_tool_calls: DEFAULT_TOOL_CALLS,
      max_completion_tokens: outputLimitOf(model, settings),
      ...shared,
      tools: shared.tools ?? defaultTools(model, settings),
      ...more,
    };
    return {
      ...nestedRequest(request, { models: [model], parameters: own, items }),
      upstreamHeaders: depthHeaders(settings.vendor),
      ...(cache !== undefined && { cache: compact({ ttl }) as { ttl?: '5m' | '1h' } }),
    };
  };
}

/** The lowest output limit of the model's endpoints, and no more than the default. */
function outputLimitOf(id: string, { catalog }: ToolSettings): number {
  const model = catalog.resolve(id);
  const limits = (model?.endpoints ?? []).map(
    (endpoint) => endpoint.maxOutputTokens ?? model?.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS,
  );
  return Math.min(DEFAULT_OUTPUT_TOKENS, ...limits);
}

/** Dialects whose upstreams refuse a schema beside tools. */
const SCHEMA_OR_TOOLS: ReadonlySet<string> = new Set(['gemini', 'bedrock']);

/** True if all endpoints of a model are known to take a schema of the answer. */
function takesSchema(id: string, { catalog }: ToolSettings): boolean {
  const endpoints = catalog.resolve(id)?.endpoints ?? [];
  return endpoints.every(
    ({ provider, supportedParameters }) =>
      supportedParameters?.has('structured_outputs') === true && !SCHEMA_OR_TOOLS.has(provider.dialect),
  );
}

/** Tools of the web that this gateway can run by itself; none for models that take no tools. */
function defaultTools(id: string, settings: ToolSettings): JsonObject[] {
  const endpoints = settings.catalog.resolve(id)?.endpoints ?? [];
  if (endpoints.some(({ supportedParameters }) => supportedParameters?.has('tools') === false)) return [];
  const able = settings.web.engines.size > 0 ? [webSearch, webFetch] : [webFetch];
  return able.map(({ name }) => ({ type: `${settings.vendor}:${name}` }));
}

function failure(error: string, reason: string, shown: JsonObject = {}): ToolOutcome {
  const told = { status: 'error', error, failure_reason: reason };
  return {
    output: JSON.stringify({ ...told, ...shown }),
    shown: { ...shown, error, failure_reason: reason },
    isFailed: true,
  };
}

/** Reasons of a panel without answers whose models all failed alike. */
const COMMON_REASONS: ReadonlyMap<number | undefined, string> = new Map([
  [402, 'insufficient_credits'],
  [429, 'rate_limited'],
]);

function reasonOf(failed: readonly FailedModel[]): string {
  const statuses = new Set(failed.map(({ status_code }) => status_code));
  const [status] = statuses;
  return (statuses.size === 1 ? COMMON_REASONS.get(status) : undefined) ?? 'all_panels_failed';
}
