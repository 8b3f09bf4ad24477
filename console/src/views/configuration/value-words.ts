import type { ConfigurationValue } from '../../../../src/contract/gateway/configuration.ts';

/** Kinds of sources that the reader can choose. */
export const SOURCE_KINDS = ['file', 'environment', 'flag', 'default'] as const;

/** Whether a value comes from a source; null = any. */
export function isFrom({ source }: ConfigurationValue, kind: string | null): boolean {
  return kind === null || source.kind === kind;
}

/** Where a value comes from, in words. */
export function sourceText({ kind, line, variables, flag }: ConfigurationValue['source']): string {
  const place = line === null ? '' : `line ${line}`;
  if (kind === 'flag') return flag ?? 'flag';
  if (kind === 'environment') return [variables.join(', '), place].filter((part) => part !== '').join(', ');
  return kind === 'file' ? place || 'file' : 'default';
}

const KIB = 1_024;

/** Units of the numbers of a key, by the end of a word of its path, and the largest first: the first that fits is used. */
const UNITS: Readonly<Record<string, readonly (readonly [from: number, per: number, unit: string])[]>> = {
  ms: [
    [3_600_000, 3_600_000, 'h'],
    [300_000, 60_000, 'min'],
    [1_000, 1_000, 's'],
    [0, 1, 'ms'],
  ],
  bytes: [
    [KIB ** 3, KIB ** 3, 'GiB'],
    [KIB ** 2, KIB ** 2, 'MiB'],
    [1_000_000, 1_000_000, 'MB'],
    [KIB, KIB, 'KiB'],
    [0, 1, 'B'],
  ],
  days: [[0, 1, 'days']],
};

/** A value in words: `120 s` for 120000 below a key in milliseconds. */
export function valueText({ key, value }: Pick<ConfigurationValue, 'key' | 'value'>): string {
  if (value === null) return '–';
  if (typeof value === 'number') return quantityText(value, unitOf(key));
  if (typeof value === 'object' && Object.keys(value).length === 0) return 'none';
  return rawText(value);
}

/** A value as the file has it, without a unit. */
export function rawText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function unitOf(key: string): string | undefined {
  return /_(ms|bytes|days)\b/.exec(key)?.[1];
}

function quantityText(value: number, unit: string | undefined): string {
  const steps = unit === undefined ? [] : (UNITS[unit] ?? []);
  const step = steps.find(([from, per]) => Math.abs(value) >= from && value % per === 0);
  return step === undefined ? String(value) : `${value / step[1]} ${step[2]}`;
}

/** The values of one part of the configuration. */
export interface Section {
  readonly title: string;
  /** What the keys in it begin with, to the dot. */
  readonly prefix: string;
  readonly values: readonly ConfigurationValue[];
}

/** What an entry of a list is called by. */
const NAMES = ['slug', 'id', 'name'];

/** Values by the part of the configuration that they belong to, in the order of the first of each. */
export function sectionsOf(values: readonly ConfigurationValue[]): Section[] {
  const sections = new Map<string, ConfigurationValue[]>();
  for (const value of values) {
    const prefix = /^\w+(\[\d+\])?\./.exec(value.key)?.[0] ?? '';
    const section = sections.get(prefix);
    if (section === undefined) sections.set(prefix, [value]);
    else section.push(value);
  }
  return [...sections].map(([prefix, own]) => ({ title: titleOf(prefix, own), prefix, values: own }));
}

function titleOf(prefix: string, values: readonly ConfigurationValue[]): string {
  if (prefix === '') return 'General';
  const [, word = '', index] = /^(\w+)(?:\[(\d+)\])?/.exec(prefix) ?? [];
  const words = word.replaceAll('_', ' ');
  const title = words.slice(0, 1).toUpperCase() + words.slice(1);
  if (index === undefined) return title;
  const name = NAMES.map((each) => values.find(({ key }) => key === `${prefix}${each}`)?.value).find(
    (value) => typeof value === 'string',
  );
  return `${title.replace(/s$/, '')} ${name ?? index}`;
}
