import Type, { type Static } from 'typebox';
import { readJson } from '../../kit/json/json.ts';
import { closed, nullish } from '../../kit/json/schema.ts';
import { compileValidator, type Issue } from '../../kit/json/validate.ts';
import { isoMomentMs } from '../../kit/time/iso-moment.ts';

const DAY_MS = 86_400_000;

/** Earlier lines are refused. */
const EARLIEST = '2020-01-01T00:00:00Z';
const EARLIEST_MS = Date.parse(EARLIEST);

/** Tolerance for clocks that are ahead, milliseconds. */
const MAX_CLOCK_AHEAD_MS = DAY_MS;

/** Limits of one line: above any real generation, and low enough that sums of many lines stay exact. */
const MAX_LINE_TOKENS = 1_000_000_000_000;
const MAX_LINE_USD = 10_000;
const MAX_LINE_MS = 1_000_000_000;

const text = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\p{Cc}\\p{Cs}]+$',
    explainPattern: 'must not hold control characters or halves of characters',
  });

const name = text(256);
const tokens = Type.Integer({ minimum: 0, maximum: MAX_LINE_TOKENS });
const milliseconds = Type.Number({ minimum: 0, maximum: MAX_LINE_MS });

/** One line of imported usage. Null is as good as absent. */
export const usageLineSchema = closed({
  generation_id: name,
  created_at: Type.String({ maxLength: 64 }),
  model: name,
  provider: nullish(name),
  api_key_hash: nullish(name),
  workspace_id: nullish(name),
  user: nullish(name),
  session_id: nullish(name),
  app: nullish(
    closed({
      referer: nullish(Type.String()),
      title: nullish(Type.String()),
      categories: nullish(Type.Array(Type.String())),
    }),
  ),
  tokens_prompt: tokens,
  tokens_completion: tokens,
  tokens_reasoning: nullish(tokens),
  tokens_cached: nullish(tokens),
  cost_usd: nullish(Type.Number({ minimum: 0, maximum: MAX_LINE_USD })),
  is_byok: nullish(Type.Boolean()),
  finish_reason: nullish(text(64)),
  latency_ms: nullish(milliseconds),
  generation_ms: nullish(milliseconds),
  country: nullish(
    Type.String({ pattern: '^[A-Za-z]{2}$', explain: 'must be the two letters of a country, such as DE' }),
  ),
});

export type UsageLine = Static<typeof usageLineSchema>;

/** A parsed line, or why it is bad: `tokens_prompt: must be >= 0`. */
export type UsageReading =
  | { readonly ok: true; readonly line: UsageLine; readonly createdAtMs: number }
  | { readonly ok: false; readonly problem: Issue };

const validator = compileValidator(usageLineSchema);

export function parseUsageLine(written: string, nowMs: number): UsageReading {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    const reading = readJson(written);
    return bad('', reading.ok ? 'not valid JSON' : reading.problem);
  }
  const [issue] = validator.issuesOf(value);
  if (issue !== undefined) return { ok: false, problem: issue };
  const line = value as UsageLine;
  const createdAtMs = isoMomentMs(line.created_at);
  if (createdAtMs === undefined) {
    return bad('created_at', 'must be a moment such as 2026-01-31T12:00:00Z or 2026-01-31T14:00:00+02:00');
  }
  const problem = timeProblem(createdAtMs, nowMs) ?? shareProblem(line);
  return problem === undefined ? { ok: true, line, createdAtMs } : { ok: false, problem };
}

function timeProblem(createdAtMs: number, nowMs: number): Issue | undefined {
  const problem = (message: string): Issue => ({ path: 'created_at', message });
  if (createdAtMs < EARLIEST_MS) return problem(`must not be before ${EARLIEST}`);
  return createdAtMs > nowMs + MAX_CLOCK_AHEAD_MS ? problem('must not be more than a day ahead') : undefined;
}

/** A part cannot be more than the whole. */
function shareProblem(line: UsageLine): Issue | undefined {
  for (const [part, whole] of SHARES) {
    if ((line[part] ?? 0) > line[whole]) return { path: part, message: `must not be more than ${whole}` };
  }
  return undefined;
}

const SHARES = [
  ['tokens_reasoning', 'tokens_completion'],
  ['tokens_cached', 'tokens_prompt'],
] as const;

function bad(path: string, message: string): UsageReading {
  return { ok: false, problem: { path, message } };
}
