/** The most places after the point: a nano-dollar is the smallest amount. */
const MAX_PLACES = 9;

const AMOUNT = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d*))?$/;

/** An amount as people type it: 5000, 5,000.00, $0.25. Undefined = it is none, or finer than a nano-dollar. */
export function parseMoney(text: string): number | undefined {
  const amount = text.trim().replace(/^\$\s*/, '');
  const [, whole, fraction = ''] = AMOUNT.exec(amount) ?? [];
  if (whole === undefined || fraction.length > MAX_PLACES) return undefined;
  return Number(`${whole.replaceAll(',', '')}.${fraction || '0'}`);
}

/** An amount for a field that it can be typed into: every digit, at least two places. */
export function typedMoney(usd: number | null): string {
  if (usd === null) return '';
  const [whole = '0', fraction = ''] = usd.toFixed(MAX_PLACES).split('.');
  return `${Number(whole).toLocaleString('en-GB')}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}
