import { isJsonObject, readJson } from '../../../kit/json/json.ts';
import { type CodePointText, codePointText } from '../../../kit/text/code-points.ts';
import type { Egress } from '../../../net/egress/egress.ts';
import { EgressProblem } from '../../../net/egress/egress-problem.ts';
import type { AppliedGuardrail, BuiltinFilter, BuiltinSlug } from '../../../ports/tenancy/guardrails.ts';
import { FILTER_ACTIONS } from '../../../ports/tenancy/guardrails.ts';
import { type Finding, redacted } from '../filters/finding.ts';
import { type Judge, JudgeFailure } from './judge.ts';

/** Filters that need a service that knows names, and what it calls them. */
const ENTITIES: Partial<Record<BuiltinSlug, { readonly entity: string; readonly redaction: string }>> = {
  'person-name': { entity: 'PERSON', redaction: '[PERSON_NAME]' },
  address: { entity: 'LOCATION', redaction: '[ADDRESS]' },
};

/** Limit for judging all texts of a request, or of a piece of an answer. */
const TIMEOUT_MS = 3000;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** Characters of one call: services limit them. */
const CALL_CHARACTERS = 50_000;
const CALLS_AT_ONCE = 4;

/** Stands between texts of one call, so that none runs into the next. */
const SEPARATOR = '\n\n';

/** Answers are judged in pieces of about this length, which end with a sentence. */
const WINDOW_CHARACTERS = 400;

/** Identifiers and words of protocols: one word that begins with a small letter, a digit or a sign. */
const NO_NAME = /^[a-z\d_$./#@-][\w$./:#@+=-]*$/;

interface EntityFilter {
  readonly builtin: BuiltinFilter;
  readonly redaction: string;
  readonly owner: AppliedGuardrail;
}

/** The judge for `person-name` and `address`; undefined if no guardrail has them. Texts pass while it fails. */
export function presidioJudge(
  applied: readonly AppliedGuardrail[],
  presidioUrl: string | null,
  egress: Pick<Egress, 'call'>,
): Judge | undefined {
  const filters = filtersOf(applied);
  const [first] = filters.values();
  if (first === undefined) return undefined;
  return {
    engine: 'nlp',
    guardrailId: first.owner.guardrail.id,
    scope: first.owner.scope,
    onFailure: 'open',
    windowCharacters: WINDOW_CHARACTERS,
    async judge(texts, _direction, signal) {
      if (presidioUrl === null) throw new JudgeFailure('guardrails.presidio_url is not configured');
      const service = { url: `${presidioUrl.replace(/\/+$/, '')}/analyze`, egress };
      const deadline = performance.now() + TIMEOUT_MS;
      const found: Finding[][] = texts.map(() => []);
      const open = callsFor(texts.map(({ text }) => text));
      const work = async () => {
        for (let call = open.shift(); call !== undefined; call = open.shift()) {
          const text = codePointText(call.text);
          const entities = await analyzed(call.text, [...filters.keys()], service, deadline, signal);
          for (const piece of call.pieces) {
            found[piece.index]?.push(...findingsIn(piece, text, entities, filters));
          }
        }
      };
      await Promise.all(Array.from({ length: Math.min(CALLS_AT_ONCE, open.length) }, work));
      return {
        texts: texts.map(({ text }, index) => redacted(text, found[index] ?? [])),
        findings: found.filter((_, index) => texts[index]?.joined === undefined).flat(),
        spansIn: (index) => found[index] ?? [],
      };
    },
  };
}

/** Filters by entity; of several for one entity, the strictest. */
function filtersOf(applied: readonly AppliedGuardrail[]): Map<string, EntityFilter> {
  const filters = new Map<string, EntityFilter>();
  for (const owner of applied) {
    for (const builtin of owner.guardrail.builtins ?? []) {
      const row = ENTITIES[builtin.slug];
      if (row === undefined) continue;
      const known = filters.get(row.entity)?.builtin.action ?? 'flag';
      const isStricter = FILTER_ACTIONS.indexOf(builtin.action) < FILTER_ACTIONS.indexOf(known);
      if (isStricter || !filters.has(row.entity)) {
        filters.set(row.entity, { builtin, redaction: row.redaction, owner });
      }
    }
  }
  return filters;
}

interface Call {
  text: string;
  readonly pieces: CallPiece[];
}

/** A piece of a text, which begins at `from`: it stands in the text of a call from `start` to `end`. */
interface CallPiece {
  readonly index: number;
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

/** Joins texts that may hold a name, and divides long ones. */
function callsFor(texts: readonly string[]): Call[] {
  const calls: Call[] = [];
  let last: Call | undefined;
  for (const [index, text] of texts.entries()) {
    if (NO_NAME.test(text)) continue;
    for (let from = 0; from < text.length; ) {
      const piece = text.slice(from, pieceEnd(text, from));
      if (last === undefined || last.text.length + piece.length > CALL_CHARACTERS) {
        last = { text: '', pieces: [] };
        calls.push(last);
      }
      if (last.text !== '') last.text += SEPARATOR;
      const start = last.text.length;
      last.pieces.push({ index, from, start, end: start + piece.length });
      last.text += piece;
      from += piece.length;
    }
  }
  return calls;
}

/** End of the next piece: after its last blank if it has one. */
function pieceEnd(text: string, from: number): number {
  const most = from + CALL_CHARACTERS;
  if (most >= text.length) return text.length;
  const blank = Math.max(text.lastIndexOf('\n', most - 1), text.lastIndexOf(' ', most - 1));
  return blank > from ? blank + 1 : most;
}

/** A span that the service found. It counts code points, as Python does. */
interface Entity {
  readonly entity_type: string;
  readonly start: number;
  readonly end: number;
}

async function analyzed(
  text: string,
  entities: readonly string[],
  { url, egress }: { readonly url: string; readonly egress: Pick<Egress, 'call'> },
  deadline: number,
  signal: AbortSignal,
): Promise<readonly Entity[]> {
  const reply = await egress
    .call(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ text, language: 'en', entities }),
      limits: { totalMs: deadline - performance.now(), maxBytes: MAX_REPLY_BYTES, maxRedirects: 0 },
      signal,
    })
    .catch((problem: unknown) => {
      throw problem instanceof EgressProblem ? new JudgeFailure(problem.message) : problem;
    });
  if (reply.status !== 200) throw new JudgeFailure(`the service answered with status ${reply.status}`);
  const reading = readJson(reply.bytes.toString('utf8'));
  const found: unknown = reading.ok && !reply.isCut ? reading.value : undefined;
  if (Array.isArray(found) && found.every(isEntity)) return found;
  throw new JudgeFailure('the answer of the service is no list of entities');
}

function isEntity(value: unknown): value is Entity {
  return (
    isJsonObject(value) &&
    typeof value.entity_type === 'string' &&
    Number.isSafeInteger(value.start) &&
    Number.isSafeInteger(value.end)
  );
}

/** Findings inside one piece of a call. A span that reaches beyond the piece is cut. */
function findingsIn(
  piece: CallPiece,
  text: CodePointText,
  entities: readonly Entity[],
  filters: ReadonlyMap<string, EntityFilter>,
): Finding[] {
  return entities.flatMap((entity): Finding[] => {
    const filter = filters.get(entity.entity_type);
    const start = Math.max(text.unitAt(entity.start), piece.start);
    const end = Math.min(text.unitAt(entity.end), piece.end);
    if (filter === undefined || start >= end) return [];
    const { builtin, owner, redaction } = filter;
    return [
      {
        name: builtin.slug,
        label: entity.entity_type,
        redaction,
        action: builtin.action,
        engine: 'nlp',
        kind: 'content-filter',
        guardrailId: owner.guardrail.id,
        scope: owner.scope,
        start: start - piece.start + piece.from,
        end: end - piece.start + piece.from,
        text: text.text.slice(start, end),
      },
    ];
  });
}
