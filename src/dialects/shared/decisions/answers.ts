import type { DecisionQuestion, DecisionSettings } from '../../../ir/decision.ts';
import { isJsonObject, type Json, type JsonObject, readJson } from '../../../kit/json/json.ts';
import { numberAt } from '../../../kit/json/members.ts';

/** The answer to a question: how probable a predicate is, or which option was chosen and how surely. */
export interface DecisionAnswer {
  /** Place of the option; absent for a predicate. */
  readonly option?: number;
  /** 0 to 1: that the predicate is true, or that the option is right. */
  readonly probability: number;
}

/** The member of a model's answer that belongs to a question. */
export function answerKey(index: number): string {
  return `q${index + 1}`;
}

export function writeAnswers({ questions }: DecisionSettings, answers: readonly DecisionAnswer[]): string {
  const members = questions.map(({ kind, options }, index): [string, JsonObject] => {
    const { option = 0, probability = 0 } = answers[index] ?? {};
    const label = options[option]?.label ?? '';
    const written: JsonObject =
      kind === 'predicate'
        ? { probability }
        : { [kind === 'choice' ? 'choice' : 'level']: label, confidence: probability };
    return [answerKey(index), written];
  });
  return JSON.stringify(Object.fromEntries(members));
}

/** The text for answers of an upstream that answers decisions itself, which are passed on as they are. */
export function writePassedAnswers(answers: Json): string {
  return JSON.stringify({ answers });
}

/** The answers in such a text; undefined = a model has written it. */
export function readPassedAnswers(text: string): Json | undefined {
  return objectIn(text).answers;
}

/** The answers in a model's text, in the order of the questions; undefined for each that has no usable one. */
export function readAnswers(
  text: string,
  { questions }: DecisionSettings,
): readonly (DecisionAnswer | undefined)[] {
  const given = objectIn(text);
  return questions.map((question, index) => readAnswer(given[answerKey(index)], question));
}

/** The JSON object of a text, which may have words or marks of a code block around it. */
function objectIn(text: string): JsonObject {
  const reading = readJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  return reading.ok && isJsonObject(reading.value) ? reading.value : {};
}

function readAnswer(
  given: Json | undefined,
  { kind, options }: DecisionQuestion,
): DecisionAnswer | undefined {
  if (!isJsonObject(given)) return undefined;
  const probability = numberAt(given, kind === 'predicate' ? 'probability' : 'confidence');
  if (probability === undefined || !(probability >= 0 && probability <= 1)) return undefined;
  if (kind === 'predicate') return { probability };
  const label = kind === 'choice' ? given.choice : given.level;
  const option = options.findIndex((each) => each.label === label);
  return option === -1 ? undefined : { option, probability };
}
