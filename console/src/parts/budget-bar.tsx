/** From this share on a budget is nearly used up. */
export const NEARLY_USED_UP = 0.9;

/** How much of a limit is spent, from 0; 1 and more = used up. A limit of nothing is used up. */
export function shareSpent(spentUsd: number, limitUsd: number): number {
  return limitUsd <= 0 ? 1 : spentUsd / limitUsd;
}

/** Grey spent, amber nearly used up, red used up. The figures stand beside it as text. */
export function BudgetBar({
  spentUsd,
  limitUsd,
}: {
  readonly spentUsd: number;
  /** Null = no limit: the bar is empty. */
  readonly limitUsd: number | null;
}) {
  const share = limitUsd === null ? 0 : shareSpent(spentUsd, limitUsd);
  const tone = share >= 1 ? 'x' : share >= NEARLY_USED_UP ? 'w' : 'n';
  return (
    <svg class="bar" aria-hidden="true">
      <rect class={tone} width={`${(Math.min(share, 1) * 100).toFixed(1)}%`} height="100%" />
    </svg>
  );
}
