import { useLostSince } from '../api/reachability.ts';
import { clockTime } from '../format/times.ts';
import { Icon } from '../parts/icon.tsx';

/** Above every view while the gateway does not answer: what is shown may be old. */
export function LostLine() {
  const sinceMs = useLostSince();
  if (sinceMs === null) return null;
  return (
    <div class="note warn lost" role="status">
      <Icon name="warning" size={14} />
      <span>
        The gateway has not answered since {clockTime(sinceMs).slice(0, 8)}: what you see is from before. The
        console asks again by itself, and what you typed is kept.
      </span>
    </div>
  );
}
