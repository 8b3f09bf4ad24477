import { withoutSecrets } from '../../kit/log/log.ts';

/** How bad it is. */
export type Verdict = 'ok' | 'warning' | 'problem';

/** One thing that was found, good or bad. */
export interface Finding {
  readonly verdict: Verdict;
  /** What is so, and where. */
  readonly what: string;
  /** What to do about it; null where there is nothing to do. */
  readonly mend: string | null;
  /** What was counted or measured; nothing where there was nothing to count. */
  readonly figures: Readonly<Record<string, number>>;
}

/** All is as it should be. */
export function fine(what: string, figures: Finding['figures'] = {}): Finding {
  return { verdict: 'ok', what, mend: null, figures };
}

/** It works, and something is to be done or known. */
export function warning(what: string, mend: string | null, figures: Finding['figures'] = {}): Finding {
  return { verdict: 'warning', what, mend, figures };
}

/** It does not work, or will not at the next start. */
export function problem(what: string, mend: string | null, figures: Finding['figures'] = {}): Finding {
  return { verdict: 'problem', what, mend, figures };
}

/** Errors whose message is for people: what is wrong, then behind a semicolon what to do. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['DataDirectoryProblem', 'GatewayError', 'CommandRefused']);

const NO_ADVICE = 'look at the log of the gateway, and run signalbox doctor again';

/** An error as a finding. Of errors that nobody foresaw only the code is shown: what they quote is not known. */
export function problemOf(error: unknown): Finding {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (!FOR_PEOPLE.has(name))
    return problem(`could not be looked at (${code ?? name ?? 'unknown'})`, NO_ADVICE);
  const [what = '', ...mend] = withoutSecrets(message).split('; ');
  return problem(what, mend.length === 0 ? NO_ADVICE : mend.join('; '));
}
