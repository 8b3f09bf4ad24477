/** One value that a filter can have. */
export interface FilterChoice {
  readonly value: string;
  /** How it is shown: the name of a key, for example. */
  readonly label: string;
  /** Beside the label, quieter. */
  readonly detail?: string;
}

/** A field that rows can be filtered by. Its name is the parameter of the address. */
export interface FilterField {
  readonly name: string;
  readonly label: string;
  /**
   * `choice`: values of a list, any of which may hold. `text`: one value as typed. `number`: one number, with the
   * operator that the field stands for.
   */
  readonly kind: 'choice' | 'text' | 'number';
  /** Of a number: `at least` or `at most`. */
  readonly operator?: 'at least' | 'at most';
  /** Of a number: behind it, such as ` s`. */
  readonly unit?: string;
  /** Of a choice: "is not" is offered too, as the parameter `NAME.not`. */
  readonly canExclude?: boolean;
  /** Of a choice: its values, from a dictionary. Others can be typed, unless `isClosed`. */
  readonly choices?: () => Promise<readonly FilterChoice[]>;
  readonly isClosed?: boolean;
}

/** A filter that holds. */
export interface ActiveFilter {
  readonly field: FilterField;
  readonly isExcluded: boolean;
  /** At least one. */
  readonly values: readonly string[];
}

const excluding = (name: string) => `${name}.not`;

/** The filters of an address, in its order. */
export function filtersOf(query: URLSearchParams, fields: readonly FilterField[]): readonly ActiveFilter[] {
  const names = [...new Set(query.keys())];
  return names.flatMap((name) => {
    const field = fields.find((each) => each.name === name || excluding(each.name) === name);
    const values = query.getAll(name).filter((value) => value !== '');
    const isExcluded = name !== field?.name;
    if (field === undefined || values.length === 0 || (isExcluded && field.canExclude !== true)) return [];
    return [{ field, isExcluded, values }];
  });
}

/** The query with the filter of a field replaced; no values remove it. */
export function withFilter(
  query: URLSearchParams,
  { name }: Pick<FilterField, 'name'>,
  values: readonly string[],
  isExcluded = false,
): URLSearchParams {
  const next = new URLSearchParams(query);
  const key = isExcluded ? excluding(name) : name;
  const entries = [...next.entries()].filter(([each]) => each !== name && each !== excluding(name));
  return new URLSearchParams([...entries, ...values.map((value): [string, string] => [key, value])]);
}

/** The word between field and value. */
export function operatorOf({ field, isExcluded, values }: ActiveFilter): string {
  if (field.operator !== undefined) return field.operator;
  if (field.kind === 'text') return 'is';
  return values.length === 1 ? (isExcluded ? 'is not' : 'is') : isExcluded ? 'is none of' : 'is any of';
}
