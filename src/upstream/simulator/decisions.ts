import { type DecisionAnswer, writeAnswers } from '../../dialects/shared/decisions/answers.ts';
import type { DecisionQuestion, DecisionSettings } from '../../ir/decision.ts';
import type { Event } from '../../ir/events.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { simulatedTokens } from './script.ts';

/** How sure the simulator is of each answer. */
const CONFIDENCE = 0.75;

/** The answers to a request for decisions: predicates are rather true, and of options the first is right. */
export function decisionScript(decision: DecisionSettings, prompt: string, model: string): Event[] {
  const text = writeAnswers(decision, decision.questions.map(answerTo));
  const usage = {
    ...NO_USAGE,
    inputTokens: simulatedTokens(prompt),
    outputTokens: simulatedTokens(text),
    source: 'measured',
  } as const;
  const bill = { totalNanos: 0n, inputNanos: 0n, outputNanos: 0n, isByok: false };
  return [
    { type: 'start', upstreamModel: model },
    { type: 'item-start', item: 0, head: { type: 'message' } },
    { type: 'part-start', item: 0, part: 0, kind: 'text' },
    { type: 'text-delta', item: 0, part: 0, kind: 'text', text },
    { type: 'part-end', item: 0, part: 0, kind: 'text' },
    { type: 'item-end', item: 0, status: 'completed' },
    { type: 'usage', usage },
    { type: 'finish', reason: 'stop', settled: { usage, bill } },
  ];
}

function answerTo({ kind }: DecisionQuestion): DecisionAnswer {
  return kind === 'predicate' ? { probability: CONFIDENCE } : { option: 0, probability: CONFIDENCE };
}
