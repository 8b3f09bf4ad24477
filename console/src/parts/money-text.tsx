import type { ShownMoney } from '../format/money.ts';

/** An amount with the digits below a cent quieter; all nine places on hover and when it is copied. */
export function MoneyText({ money: { main, below, exact } }: { readonly money: ShownMoney }) {
  return (
    <span class={main === '$0' ? 'money t3' : 'money'} title={`$${exact}`} data-exact={exact}>
      {main}
      {below !== '' && <i>{below}</i>}
    </span>
  );
}
