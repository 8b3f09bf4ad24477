import type { DecisionForm, DecisionOption, DecisionQuestion } from '../../ir/decision.ts';
import { invalidRequest } from '../../ir/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kit/json/json.ts';
import type { AskedQuestion } from '../shared/decisions/prompt.ts';
import { MAX_OPTIONS, MAX_QUESTIONS, MIN_OPTIONS } from './wire.ts';

const KINDS: Readonly<Record<DecisionForm, Readonly<Record<string, DecisionQuestion['kind']>>>> = {
  openai: { predicate: 'predicate', choice: 'choice', score: 'score' },
  'system-one': { noul: 'predicate', choice: 'choice', score: 'score' },
};

/** Reads the questions of a body. Throws 400 that names the first member that is wrong. */
export function parseQuestions(questions: Json | undefined, form: DecisionForm): readonly AskedQuestion[] {
  const entries: (readonly [path: string, name: string | null, JsonObject])[] = Array.isArray(questions)
    ? (questions as JsonObject[]).map((each, index) => [`questions[${index}]`, nameOf(each, index), each])
    : Object.entries((questions ?? {}) as Record<string, JsonObject>).map(([name, each]) => [
        `questions.${name}`,
        name,
        each,
      ]);
  if (entries.length === 0) throw refused('questions', 'must have at least one question');
  if (entries.length > MAX_QUESTIONS) {
    throw refused('questions', `must have at most ${MAX_QUESTIONS} questions, but has ${entries.length}`);
  }
  return entries.map(([path, name, question]) => parseQuestion(question, { path, name, form }));
}

interface Place {
  readonly path: string;
  readonly name: string | null;
  readonly form: DecisionForm;
}

function parseQuestion(question: JsonObject, { path, name, form }: Place): AskedQuestion {
  const kinds = KINDS[form];
  const kind = Object.hasOwn(kinds, String(question.type)) ? kinds[String(question.type)] : undefined;
  if (kind === undefined) {
    throw refused(`${path}.type`, `must be one of ${Object.keys(kinds).join(', ')}`);
  }
  const { instructions } = question;
  if (!isContent(instructions)) throw refused(`${path}.instructions`, 'must be a text, an object or a list');
  const given = form === 'openai' ? ofOpenAi(question, kind, path) : ofSystemOne(question, kind, path);
  return { name, kind, instructions, ...given };
}

function nameOf({ name }: JsonObject, index: number): string | null {
  if (name === undefined || name === null) return null;
  if (typeof name === 'string') return name;
  throw refused(`questions[${index}].name`, 'must be a text');
}

type Options = Pick<AskedQuestion, 'options' | 'meanings'>;

const NO_OPTIONS: Options = { options: [], meanings: [] };

function ofOpenAi(question: JsonObject, kind: DecisionQuestion['kind'], path: string): Options {
  if (kind === 'predicate') return NO_OPTIONS;
  const [member, key] = kind === 'choice' ? ['choices', 'value'] : ['levels', 'label'];
  const place = `${path}.${member}`;
  const list = question[member];
  if (!Array.isArray(list)) throw refused(place, 'must be a list');
  requireNumber(list.length, place);
  const values = list.map((entry, index) => {
    const value = isJsonObject(entry) ? entry[key] : undefined;
    if (typeof value === 'string' || (kind === 'choice' && typeof value === 'boolean')) return value;
    const types = kind === 'choice' ? 'a text or a boolean' : 'a text';
    throw refused(`${place}[${index}].${key}`, `must be ${types}`);
  });
  const twice = values.findIndex((value, index) => values.indexOf(value) < index);
  if (twice !== -1) throw refused(`${place}[${twice}].${key}`, 'must be unique');
  return {
    options: labelled(values),
    meanings: list.map((entry) => (entry as JsonObject).description ?? null),
  };
}

function ofSystemOne(question: JsonObject, kind: DecisionQuestion['kind'], path: string): Options {
  const { criteria } = question;
  const place = `${path}.criteria`;
  if (kind === 'predicate') return ofNoul(criteria, place);
  if (kind === 'choice') {
    if (!isJsonObject(criteria)) throw refused(place, 'must be an object: what each choice means');
    const values = Object.keys(criteria);
    requireNumber(values.length, place);
    return { options: labelled(values), meanings: values.map((value) => criteria[value] ?? null) };
  }
  if (!Array.isArray(criteria)) throw refused(place, 'must be a list of levels, the lowest first');
  requireNumber(criteria.length, place);
  const wrong = criteria.findIndex((each) => !isContent(each));
  if (wrong !== -1) throw refused(`${place}[${wrong}]`, 'must be a text, an object or a list');
  return { options: labelled(criteria.map((_, index) => String(index))), meanings: criteria };
}

function ofNoul(criteria: Json | undefined, place: string): Options {
  if (criteria === undefined || criteria === null) return NO_OPTIONS;
  if (!isJsonObject(criteria)) throw refused(place, 'must be an object with `true` and `false`');
  return { options: [], meanings: [criteria.false ?? null, criteria.true ?? null] };
}

/** Options with names of their own: a text and a boolean may be written alike. */
function labelled(values: readonly (string | boolean)[]): DecisionOption[] {
  const texts = new Set(values.filter((value) => typeof value === 'string'));
  return values.map((value) => {
    if (typeof value === 'string') return { value, label: value };
    let label = String(value);
    while (texts.has(label)) label += ' (boolean)';
    return { value, label };
  });
}

function requireNumber(count: number, path: string): void {
  if (count >= MIN_OPTIONS && count <= MAX_OPTIONS) return;
  throw refused(path, `must have between ${MIN_OPTIONS} and ${MAX_OPTIONS} entries, but has ${count}`);
}

function isContent(value: Json | undefined): value is Json {
  return (typeof value === 'string' && value !== '') || isJsonObject(value) || Array.isArray(value);
}

function refused(path: string, message: string) {
  return invalidRequest([{ path, message }]);
}
