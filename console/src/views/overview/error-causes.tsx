import { Link } from '../../address/link.tsx';
import type { Overview } from '../../api/contract.ts';
import { count } from '../../format/numbers.ts';
import { errorText } from '../log/log-words.ts';

interface Props {
  readonly overview: Overview;
  /** The log with further filters. */
  readonly logOf: (extra: Readonly<Record<string, string>>) => string;
}

const SHOWN = 5;

/** Generations without an answer, by cause. A cause opens its rows in the log. */
export function ErrorCauses({ overview: { errors, now }, logOf }: Props) {
  const most = Math.max(1, ...errors.map(({ error_count }) => error_count));
  return (
    <>
      <div class="hd">
        <h2>Errors, by cause</h2>
        <Link class="push sm" href={logOf({ state: 'failed' })}>
          {count(now.error_count)} in the log
        </Link>
      </div>
      {errors.length === 0 && <p class="t3 sm">Every generation of this range got an answer.</p>}
      <ul class="bl">
        {errors.slice(0, SHOWN).map(({ status, type, provider, error_count }) => (
          <li key={`${status} ${type} ${provider}`}>
            <Link
              class="cut plain"
              href={logOf({
                state: 'failed',
                ...(status !== null && { error_status: String(status) }),
                ...(provider !== null && { provider }),
              })}
            >
              {errorText(status, type)} <span class="dim">{provider ?? 'no provider called'}</span>
            </Link>
            <span>{count(error_count)}</span>
            <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect class="track" width={100} height={4} />
              <rect class="fill" width={(error_count / most) * 100} height={4} />
            </svg>
          </li>
        ))}
      </ul>
    </>
  );
}
