/** Units of keys, by the end of their names. */
export type Unit = 'ms' | 'bytes' | 'days';

/** How numbers of a unit may be written. */
export interface UnitWords {
  /** The words behind the number, in milliseconds or bytes. */
  readonly factors: Readonly<Record<string, bigint>>;
  /** The unit of the key itself, in the same measure. */
  readonly own: bigint;
  readonly explain: string;
}

const DURATIONS = { ms: 1n, s: 1000n, m: 60_000n, min: 60_000n, h: 3_600_000n, d: 86_400_000n };

const KIB = 1024n;

/** Units that may follow a number, by the unit of the key. Names are compared without case. */
export const UNITS: Readonly<Record<Unit, UnitWords>> = {
  ms: {
    factors: DURATIONS,
    own: 1n,
    explain: 'must be a duration such as 500ms, 30s, 10m or 1h, or a whole number of milliseconds',
  },
  days: {
    factors: DURATIONS,
    own: DURATIONS.d,
    explain: 'must be whole days, such as 30d, or a number of days',
  },
  bytes: {
    factors: {
      b: 1n,
      kb: 1000n,
      mb: 1000n ** 2n,
      gb: 1000n ** 3n,
      tb: 1000n ** 4n,
      kib: KIB,
      mib: KIB ** 2n,
      gib: KIB ** 3n,
      tib: KIB ** 4n,
    },
    own: 1n,
    explain: 'must be a size such as 32MiB, 500kB or 10GiB, or a whole number of bytes',
  },
};

const QUANTITY = /^(\d{1,18})(?:\.(\d{1,9}))?\s*([a-z]*)$/i;

/**
 * Reads a text such as `30s` or `1.5MiB` as a whole number of the key's own unit; a number without a unit counts in it.
 * Undefined if it is none, or not a whole number of them.
 */
export function readQuantity(text: string, unit: Unit): number | undefined {
  const { factors, own } = UNITS[unit];
  const match = QUANTITY.exec(text.trim());
  if (match === null) return undefined;
  const [, whole = '', fraction = '', word = ''] = match;
  const name = word.toLowerCase();
  if (name !== '' && !Object.hasOwn(factors, name)) return undefined;
  const factor = name === '' ? own : (factors[name] as bigint);
  const scaled = BigInt(whole + fraction) * factor;
  const divisor = 10n ** BigInt(fraction.length) * own;
  return scaled % divisor === 0n ? Number(scaled / divisor) : undefined;
}
