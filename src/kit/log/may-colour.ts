/** Whether text for a terminal may have colours: `NO_COLOR` (https://no-color.org) and simple terminals have none. */
export function mayColour(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}
