/** `Retry-After` in seconds, from seconds, milliseconds or a date; undefined when absent or unreadable. */
export function retryAfterOf(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const milliseconds = headers['retry-after-ms'];
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds) / 1000;
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value);
  const dateMs = /^-?\d/.test(value) ? Number.NaN : Date.parse(value);
  return Number.isNaN(dateMs) ? undefined : (dateMs - nowMs) / 1000;
}
