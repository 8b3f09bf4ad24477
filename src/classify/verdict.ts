import { readAnswers, readPassedAnswers } from '../dialects/shared/decisions/answers.ts';
import type { DecisionSettings } from '../ir/decision.ts';
import { type Result, writtenItems } from '../ir/result.ts';
import { lookUp } from '../kit/collections/lookup.ts';
import { isJsonObject, type Json } from '../kit/json/json.ts';
import { stringAt } from '../kit/json/members.ts';
import { type Classifier, NOTHING_FITS } from '../ports/following/classifiers.ts';

export interface Verdict {
  /** Values by dimension. */
  readonly tags: Readonly<Record<string, string>>;
  /** Why tags are missing; null = nothing went wrong. */
  readonly problem: string | null;
}

/** Reads an answer. A dimension without a usable value gets no tag, and is named by the problem. */
export function readVerdict(
  { dimensions }: Pick<Classifier, 'dimensions'>,
  decision: DecisionSettings,
  { items }: Pick<Result, 'items'>,
): Verdict {
  const parts = writtenItems(items).flatMap((item) => (item.type === 'message' ? item.content : []));
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const chosen = chosenIn(text, decision);
  const tags: [string, string][] = [];
  const unanswered: string[] = [];
  for (const [index, { name, values }] of dimensions.entries()) {
    const value = chosen[index];
    if (value === NOTHING_FITS) continue;
    if (value !== undefined && values.some((each) => each.value === value)) tags.push([name, value]);
    else unanswered.push(name);
  }
  return { tags: Object.fromEntries(tags), problem: problemOf(parts, unanswered) };
}

/** The chosen value of each question; undefined for one without a usable answer. */
function chosenIn(text: string, decision: DecisionSettings): readonly (string | undefined)[] {
  const passed = readPassedAnswers(text);
  if (passed !== undefined) {
    return decision.questions.map(({ name }, index) => choiceIn(passed, index, name ?? ''));
  }
  return readAnswers(text, decision).map((answer, index) => {
    const value = answer && decision.questions[index]?.options[answer.option ?? -1]?.value;
    return typeof value === 'string' ? value : undefined;
  });
}

/** The choice in answers of a model that is made for decisions: a list, or an object by names. */
function choiceIn(answers: Json, index: number, name: string): string | undefined {
  const answer = Array.isArray(answers)
    ? answers[index]
    : isJsonObject(answers)
      ? lookUp(answers, name)
      : null;
  return isJsonObject(answer) ? stringAt(answer, 'choice') : undefined;
}

function problemOf(
  parts: readonly { readonly type: string }[],
  unanswered: readonly string[],
): string | null {
  if (unanswered.length === 0) return null;
  if (parts.some(({ type }) => type === 'refusal')) return 'the model refused to answer';
  return `the model gave no usable answer for ${unanswered.join(', ')}`;
}
