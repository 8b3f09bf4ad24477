import Type from 'typebox';

/** `Z` and `+00:00` are the offsets of UTC. */
const UTC_MOMENT = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?(?:Z|\\+00:00)$';

/** A time in a request: with seconds, in UTC. The calendar is not checked here. */
export function utcMoment(description: string) {
  return Type.String({
    pattern: UTC_MOMENT,
    explain: 'must be a moment in UTC such as 2030-01-31T12:00:00Z',
    description,
  });
}
