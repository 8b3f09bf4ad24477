/** A line of CSV (RFC 4180), with its line break. Null is empty. */
export function csvLine(values: readonly (string | number | boolean | null)[]): string {
  return `${values.map(csvValue).join(',')}\r\n`;
}

/** A number without an exponent, which many readers of files do not know; small ones to nine places. */
export function plainNumber(value: number): string {
  const text = String(value);
  return text.includes('e-') ? value.toFixed(9).replace(/\.?0+$/, '') : text;
}

/** Beginnings with which a spreadsheet takes text for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function csvValue(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return plainNumber(value);
  if (typeof value !== 'string') return String(value);
  // Text of callers must not become a formula of the reader.
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
