import { type Sort, sortOf, sortText } from './sort.ts';

/** What rows can be in order of, and the names of both directions, the largest first and last. */
export type NamedOrder<By extends string = string> = readonly [by: By, descending: string, ascending: string];

interface Props<By extends string> {
  readonly orders: readonly NamedOrder<By>[];
  readonly order: Sort;
  readonly onChoose: (order: Sort & { readonly by: By }) => void;
}

/** The order in words, for phones, whose rows have no heads. */
export function OrderChoice<By extends string>({ orders, order, onChoose }: Props<By>) {
  const named = orders.flatMap(([by, descending, ascending]) => [
    { text: sortText({ by, isDescending: true }), title: descending },
    { text: sortText({ by, isDescending: false }), title: ascending },
  ]);
  return (
    <select
      class="in-t narrow ws-choice"
      aria-label="Order"
      value={sortText(order)}
      onChange={(event) => {
        const chosen = sortOf(event.currentTarget.value);
        if (chosen !== null) onChoose(chosen as Sort & { readonly by: By });
      }}
    >
      {named.map(({ text, title }) => (
        <option key={text} value={text}>
          {title}
        </option>
      ))}
    </select>
  );
}
