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

/** A value as text: – for none. */
export function valueText(value: unknown): string {
  if (value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
