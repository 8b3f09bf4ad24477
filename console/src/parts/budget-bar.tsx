import { useId } from 'preact/hooks';
import { shortMoney } from '../format/money.ts';
import { usedPercent } from '../format/numbers.ts';

/** From this share on a budget is nearly used up. */
export const NEARLY_USED_UP = 0.9;

/** How much of a limit is spent, from 0; 1 and more = used up. A limit of nothing is used up. */
export function shareSpent(spentUsd: number, limitUsd: number): number {
  return limitUsd <= 0 ? 1 : spentUsd / limitUsd;
}

interface Props {
  readonly spentUsd: number;
  readonly limitUsd: number;
  /** Held for running requests, beyond what is spent. */
  readonly reservedUsd: number;
  /** What is left no longer pays for the requests that come. */
  readonly isRefusing?: boolean;
}

/** Grey spent, hatched reserved, amber nearly used up, red refusing. The figures stand beside it as text. */
export function BudgetBar({ spentUsd, limitUsd, reservedUsd, isRefusing = false }: Props) {
  const hatch = useId();
  const share = shareSpent(spentUsd, limitUsd);
  const reserved = limitUsd <= 0 ? 0 : reservedUsd / limitUsd;
  const tone = share >= 1 || isRefusing ? 'x' : share >= NEARLY_USED_UP ? 'w' : 'n';
  const wide = (part: number): string => `${(Math.max(0, Math.min(part, 1)) * 100).toFixed(1)}%`;
  return (
    <svg class="bar" role="img" aria-label={barText(share, reservedUsd)}>
      <title>{barText(share, reservedUsd)}</title>
      <pattern id={hatch} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class="n" width="2" height="4" />
      </pattern>
      <rect class={tone} width={wide(share)} height="100%" />
      {reserved > 0 && (
        <rect
          x={wide(share)}
          width={wide(Math.min(reserved, 1 - share))}
          height="100%"
          fill={`url(#${hatch})`}
        />
      )}
    </svg>
  );
}

function barText(share: number, reservedUsd: number): string {
  const spent = `${usedPercent(share)} spent`;
  return reservedUsd === 0 ? spent : `${spent}, ${shortMoney(reservedUsd)} reserved for running requests`;
}
