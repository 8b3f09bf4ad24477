import { withoutSecrets } from '../kit/log/redact-fields.ts';

export type Verdict = 'ok' | 'warning' | 'problem';

export interface CheckFinding {
  readonly verdict: Verdict;
  /** The fact and its place. */
  readonly what: string;
  /** Advice; null if there is none. */
  readonly mend: string | null;
  /** Measurements, for `--json`. */
  readonly figures: Readonly<Record<string, number>>;
}

/** Works. */
export function fine(what: string, figures: CheckFinding['figures'] = {}): CheckFinding {
  return { verdict: 'ok', what, mend: null, figures };
}

/** Works, but needs attention. */
export function warning(
  what: string,
  mend: string | null,
  figures: CheckFinding['figures'] = {},
): CheckFinding {
  return { verdict: 'warning', what, mend, figures };
}

/** Does not work, or will not after the next start. */
export function problem(
  what: string,
  mend: string | null,
  figures: CheckFinding['figures'] = {},
): CheckFinding {
  return { verdict: 'problem', what, mend, figures };
}

export function worstOf(findings: readonly Pick<CheckFinding, 'verdict'>[]): Verdict {
  const has = (wanted: Verdict) => findings.some(({ verdict }) => verdict === wanted);
  if (has('problem')) return 'problem';
  return has('warning') ? 'warning' : 'ok';
}

/** Errors whose message has the form `problem; advice`. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['DataDirectoryProblem', 'GatewayError', 'CommandRefused']);

const NO_ADVICE = 'read the log of the gateway, and run signalbox doctor again';

/** An error as a finding. Of unexpected errors only the code is shown: their messages may quote secrets. */
export function problemOf(error: unknown): CheckFinding {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (!FOR_PEOPLE.has(name)) return problem(`check failed (${code ?? name ?? 'unknown'})`, NO_ADVICE);
  return problemOfText(message);
}

/** A text of the form `problem; advice` as a finding. */
export function problemOfText(text: string): CheckFinding {
  const [what = '', ...mend] = withoutSecrets(text).split('; ');
  return problem(what, mend.length === 0 ? NO_ADVICE : mend.join('; '));
}
