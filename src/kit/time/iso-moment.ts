const MOMENT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d))$/;

const MINUTE_MS = 60_000;

/**
 * Reads an ISO 8601 time with a zone: `Z` or an offset such as `+02:00`. Returns epoch milliseconds, finer digits cut;
 * undefined for an invalid time.
 */
export function isoMomentMs(text: string): number | undefined {
  const match = MOMENT.exec(text);
  if (match === null) return undefined;
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = 0,
    fraction = '',
    sign,
    offsetHour = 0,
    offsetMinute = 0,
  ] = match;
  const [years, months, days] = [Number(year), Number(month), Number(day)];
  if (!isDay(years, months, days)) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const local = Date.UTC(years, months - 1, days, Number(hour), Number(minute), Number(second), milliseconds);
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS;
  return sign === '-' ? local + offsetMs : local - offsetMs;
}

const DATE = /^\d{4}-\d\d-\d\d$/;
const ZONELESS = /T\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
/** An offset of hours alone, or without its colon. */
const SHORT_OFFSET = /([+-]\d\d)(\d\d)?$/;

/** Also reads a date alone (midnight) and a time without a zone, both as UTC, and short offsets. */
export function utcUnlessSaidMs(text: string): number | undefined {
  if (DATE.test(text)) return isoMomentMs(`${text}T00:00Z`);
  if (ZONELESS.test(text)) return isoMomentMs(`${text}Z`);
  return (
    isoMomentMs(text) ??
    isoMomentMs(text.replace(SHORT_OFFSET, (_, hours, minutes = '00') => `${hours}:${minutes}`))
  );
}

/** `Date.UTC` reads the 30th of February as a day of March, and the year 99 as 1999. */
function isDay(year: number, month: number, day: number): boolean {
  if (year < 100 || month < 1 || month > 12 || day < 1) return false;
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
