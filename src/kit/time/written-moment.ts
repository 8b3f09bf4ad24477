/** The second that was written last: requests that come in together share it. */
const LAST = { second: Number.NaN, text: '' };

/** A moment in epoch milliseconds as `Date.toISOString` writes it, which takes many times as long. */
export function writtenMoment(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== LAST.second) {
    LAST.text = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    LAST.second = second;
  }
  const milliseconds = String(Math.trunc(epochMs - second * 1000)).padStart(3, '0');
  return `${LAST.text}${milliseconds}Z`;
}
