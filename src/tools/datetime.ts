import Type from 'typebox';
import { RecentMap } from '../kit/collections/recent-map.ts';
import { stringAt } from '../kit/json/members.ts';
import { closed, nullish } from '../kit/json/schema.ts';
import { type ServerTool, toolFailure } from './server-tool.ts';

const UTC = 'UTC';

export const datetime: ServerTool = {
  name: 'datetime',
  costsNothing: true,
  parameters: closed({ timezone: nullish(Type.String({ minLength: 1, maxLength: 64 })) }),
  unavailable({ timezone }) {
    if (typeof timezone !== 'string' || clockOf(timezone) !== undefined) return undefined;
    return { path: 'parameters.timezone', message: 'must be an IANA time zone, such as Europe/Berlin' };
  },
  runsAlone: () => true,
  declare: ({ timezone = UTC }) => ({
    description: `Returns the current date and time. Time zone unless another is asked for: ${timezone}.`,
    parameters: {
      type: 'object',
      properties: {
        timezone: {
          type: 'string',
          description: 'IANA time zone, such as Europe/Berlin',
          default: timezone,
        },
      },
    },
  }),
  async run({ arguments: asked, parameters }, { now }) {
    const timezone = stringAt(asked, 'timezone') ?? stringAt(parameters, 'timezone') ?? UTC;
    const clock = clockOf(timezone);
    if (clock === undefined) {
      // Items of the tool always have a time: here that of UTC.
      const shown = { datetime: new Date(now()).toISOString().replace(/\.\d+/, ''), timezone: UTC };
      return toolFailure('the time zone is unknown: use an IANA name', shown);
    }
    const shown = { datetime: isoIn(clock, now()), timezone };
    return { output: JSON.stringify(shown), shown };
  },
};

/** Clocks of time zones that were asked for: making one takes half a millisecond. */
const clocks = new RecentMap<string, Intl.DateTimeFormat>(100);

/** Undefined: there is no such time zone. */
function clockOf(timezone: string): Intl.DateTimeFormat | undefined {
  const known = clocks.get(timezone);
  if (known !== undefined) return known;
  try {
    const clock = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    clocks.set(timezone, clock);
    return clock;
  } catch {
    return undefined;
  }
}

const MS_PER_MINUTE = 60_000;

/** ISO 8601 with the offset of the clock's time zone at that moment. */
function isoIn(clock: Intl.DateTimeFormat, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000) * 1000;
  const offset = Math.round((wallClockMs(clock, seconds) - seconds) / MS_PER_MINUTE);
  const local = new Date(seconds + offset * MS_PER_MINUTE).toISOString().slice(0, 19);
  if (offset === 0) return `${local}Z`;
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${local}${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`;
}

/** What a clock shows, read as if it showed UTC. */
function wallClockMs(clock: Intl.DateTimeFormat, atMs: number): number {
  const parts = clock.formatToParts(atMs);
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => Number(parts.find((part) => part.type === type)?.value));
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
