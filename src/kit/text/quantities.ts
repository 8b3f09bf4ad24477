import { countText } from './count-text.ts';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 MiB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  return power === 0 ? countText(bytes, 'byte') : `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

/** `12 ms`, `90 s`, `3 h`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 120) return `${seconds.toFixed(0)} s`;
  const minutes = seconds / 60;
  if (minutes < 120) return `${minutes.toFixed(0)} min`;
  const hours = minutes / 60;
  return hours < 48 ? `${hours.toFixed(0)} h` : `${(hours / 24).toFixed(0)} days`;
}

const TOKEN_UNITS = [
  [1e6, 'M'],
  [1e3, 'k'],
] as const;

/** `1M`, `200k`, `8.2k`: tokens, rounded to three digits. */
export function tokensText(tokens: number): string {
  const unit = TOKEN_UNITS.find(([size]) => tokens >= size);
  return unit === undefined ? String(tokens) : `${Number((tokens / unit[0]).toPrecision(3))}${unit[1]}`;
}
