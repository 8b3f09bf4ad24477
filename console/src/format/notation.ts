import { columnMoney, moneyColumn, moneyText, shortMoney } from './money.ts';
import { count, percent } from './numbers.ts';
import { duration } from './times.ts';

/** How figures of one kind are written. */
export interface Notation {
  /** A figure by itself. */
  readonly one: (value: number) => string;
  /** Figures that stand below each other or in one chart: with one number of decimals. */
  readonly column: (values: readonly number[]) => (value: number) => string;
}

const alike = (one: (value: number) => string): Notation => ({ one, column: () => one });

export const MONEY: Notation = {
  one: (usd) => (usd === 0 ? moneyText(columnMoney(0)) : shortMoney(usd)),
  column: (amounts) => {
    const shown = moneyColumn(amounts);
    return (usd) => moneyText(shown(usd));
  },
};

export const COUNT = alike(count);
export const DURATION = alike(duration);
export const SHARE = alike((share) => percent(share));
export const TOKENS_PER_SECOND = alike((rate) => `${rate.toFixed(1)} t/s`);
