import type { DecisionQuestion, DecisionSettings } from '../../ir/decision.ts';
import { GatewayError } from '../../ir/errors.ts';
import type { Settled } from '../../ir/events.ts';
import { type Result, writtenItems } from '../../ir/result.ts';
import { lookUp } from '../../kit/collections/lookup.ts';
import type { Json, JsonObject } from '../../kit/json/json.ts';
import { isJsonObject } from '../../kit/json/json.ts';
import type { ReplyContext } from '../dialect.ts';
import { costMembers } from '../shared/answers/cost-members.ts';
import { type DecisionAnswer, readAnswers, readPassedAnswers } from '../shared/decisions/answers.ts';

/** The reply in the form of the request. Throws 502 if the model did not answer a question. */
export function encodeBody(result: Result, context: ReplyContext): JsonObject {
  const { decision, body } = context.request;
  if (decision === undefined) throw new Error('the request asks for no decisions');
  const { settled } = result;
  return {
    id: context.generationId,
    answers: answersOf(result, decision, body.questions),
    model: context.model,
    provider: context.provider,
    ...(settled !== undefined && { usage: renderUsage(settled) }),
    ...(settled?.metadata !== undefined && {
      [`${context.vendor}_metadata`]: settled.metadata as unknown as JsonObject,
    }),
  };
}

function answersOf(result: Result, decision: DecisionSettings, asked: Json | undefined): Json {
  const { form, questions } = decision;
  const parts = writtenItems(result.items).flatMap((item) => (item.type === 'message' ? item.content : []));
  if (form === 'openai' && parts.some(({ type }) => type === 'refusal')) {
    return questions.map(({ name }) => ({ type: 'refusal', name }));
  }
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const passed = readPassedAnswers(text);
  if (passed !== undefined) return passed;
  const answers = readAnswers(text, decision).map(
    (answer, index) => answer ?? unanswered(questions[index], index),
  );
  if (form === 'openai') {
    return questions.map((question, index) => ofOpenAi(question, answers[index] as DecisionAnswer));
  }
  const given = isJsonObject(asked) ? asked : {};
  return Object.fromEntries(
    questions.map((question, index) => {
      const name = question.name ?? '';
      return [name, ofSystemOne(question, answers[index] as DecisionAnswer, lookUp(given, name))];
    }),
  );
}

function unanswered(question: DecisionQuestion | undefined, index: number): never {
  const name = question?.name ?? `number ${index + 1}`;
  throw new GatewayError('upstream-unavailable', `The model gave no usable answer to the question ${name}`);
}

function ofOpenAi({ name, kind, options }: DecisionQuestion, answer: DecisionAnswer): JsonObject {
  const { option = 0, probability: confidence } = answer;
  if (kind === 'predicate') return { type: 'predicate', name, probability: confidence };
  const shares = sharesOf(options.length, answer);
  if (kind === 'choice') {
    const probabilities = options.map(({ value }, index) => ({ value, probability: shares[index] ?? 0 }));
    return { type: 'choice', name, choice: options[option]?.value ?? '', confidence, probabilities };
  }
  const probabilities = options.map(({ label }, value) => ({
    label,
    value,
    probability: shares[value] ?? 0,
  }));
  return { type: 'score', name, score: option, confidence, probabilities };
}

function ofSystemOne(
  { kind, options }: DecisionQuestion,
  answer: DecisionAnswer,
  asked: Json | undefined,
): JsonObject {
  const { option = 0, probability: confidence } = answer;
  if (kind === 'predicate') return { type: 'noul', noul: confidence };
  const shares = sharesOf(options.length, answer);
  const probabilities = Object.fromEntries(options.map(({ label }, index) => [label, shares[index] ?? 0]));
  if (kind === 'choice') {
    return { type: 'choice', choice: options[option]?.label ?? '', confidence, probabilities };
  }
  const criteria = isJsonObject(asked) && Array.isArray(asked.criteria) ? asked.criteria : [];
  const legend = Object.fromEntries(criteria.map((level, index) => [String(index), level]));
  return { type: 'score', score: option, confidence, probabilities, legend };
}

/** Probabilities of all options: a model that writes says only how sure it is, so the rest is shared evenly. */
function sharesOf(count: number, { option = 0, probability }: DecisionAnswer): number[] {
  const rest = (1 - probability) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, index) => (index === option ? probability : rest));
}

/** Usage under the names of both forms, and cost. */
function renderUsage({ usage, bill }: Settled): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
    ...costMembers(bill),
  };
}
