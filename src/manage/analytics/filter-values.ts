import { quoted } from '../../kit/text/quoted.ts';
import { CONTEXT_LENGTH_BUCKETS, type Operator } from '../../ports/events/event-names.ts';
import type { ValueKind } from './analytics-names.ts';

export type FilterValue = string | number;

interface ValueRules {
  /** The problem of a value; undefined = valid. */
  problemOf(value: FilterValue): string | undefined;
  /** Operators such as `gt` apply. */
  readonly isOrdered: boolean;
}

const CONTEXT_LENGTHS: readonly FilterValue[] = CONTEXT_LENGTH_BUCKETS.map(([, name]) => name);

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KEY_HASH = /^[0-9a-f]{64}$/i;
const DIGITS = /^\d{1,15}$/;

export const VALUE_RULES: Readonly<Record<ValueKind, ValueRules>> = {
  text: {
    problemOf: () => undefined,
    isOrdered: true,
  },
  key: {
    problemOf: (value) =>
      idOf(value) !== undefined || KEY_HASH.test(String(value))
        ? undefined
        : 'must be the hash of a key (64 hexadecimal digits) or a number',
    isOrdered: false,
  },
  workspace: {
    problemOf: (value) => (UUID.test(String(value)) ? undefined : 'must be the UUID of a workspace'),
    isOrdered: false,
  },
  app: {
    problemOf: (value) =>
      idOf(value) !== undefined || typeof value === 'string'
        ? undefined
        : 'must be the id of an app (a whole number) or the host of its address',
    isOrdered: false,
  },
  contextLength: {
    problemOf: (value) =>
      CONTEXT_LENGTHS.includes(value) ? undefined : `must be one of ${CONTEXT_LENGTHS.join(', ')}`,
    isOrdered: true,
  },
};

/** A value as a numeric id; undefined if it is none. */
export function idOf(value: FilterValue): number | undefined {
  return DIGITS.test(String(value)) ? Number(value) : undefined;
}

const COMPARISONS: Readonly<Partial<Record<Operator, (place: number, than: number) => boolean>>> = {
  gt: (place, than) => place > than,
  gte: (place, than) => place >= than,
  lt: (place, than) => place < than,
  lte: (place, than) => place <= than,
};

/** For `gt`, `gte`, `lt`, `lte`: the length buckets that match, compared by size. Undefined for other operators. */
export function contextLengthsOf(operator: Operator, value: FilterValue): FilterValue[] | undefined {
  const holds = COMPARISONS[operator];
  const than = CONTEXT_LENGTHS.indexOf(value);
  return holds && CONTEXT_LENGTHS.filter((_, place) => holds(place, than));
}

export function shownValue(value: FilterValue): string {
  return typeof value === 'string' ? quoted(value) : String(value);
}
