import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../kit/json/json.ts';
import { datetime } from './datetime.ts';
import type { ToolContext } from './server-tool.ts';

const AT = Date.UTC(2026, 6, 1, 12, 30, 15, 500);

const run = (asked: JsonObject, parameters: JsonObject = {}) =>
  datetime.run({ callId: 'c', arguments: asked, parameters, uses: 0, claimResults: Math.min }, {
    now: () => AT,
  } as ToolContext);

describe('datetime', () => {
  it.each([
    [{}, {}, '2026-07-01T12:30:15Z', 'UTC'],
    [{}, { timezone: 'Europe/Berlin' }, '2026-07-01T14:30:15+02:00', 'Europe/Berlin'],
    [{ timezone: 'Asia/Kolkata' }, { timezone: 'UTC' }, '2026-07-01T18:00:15+05:30', 'Asia/Kolkata'],
    [{ timezone: 'America/St_Johns' }, {}, '2026-07-01T10:00:15-02:30', 'America/St_Johns'],
  ])('tells the time for %j in %j', async (asked, parameters, time, timezone) => {
    const { shown, output } = await run(asked, parameters);
    expect(shown).toEqual({ datetime: time, timezone });
    expect(JSON.parse(output)).toEqual(shown);
  });

  it('tells the model about a time zone that does not exist', async () => {
    expect(await run({ timezone: 'Moon/Sea' })).toMatchObject({ isFailed: true });
    expect(datetime.unavailable?.({ timezone: 'Moon/Sea' }, {} as never)?.path).toBe('parameters.timezone');
  });
});
