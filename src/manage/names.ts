import { GatewayError } from '../ir/errors.ts';

const LONGEST_NAME = 255;

/** Refuses a name that people could not read back: empty, over-long, with control characters or blanks around it. */
export function checkName(field: string, name: string): void {
  const reason = problemOf(name);
  if (reason !== undefined) throw new GatewayError('invalid-request', `${field}: ${reason}`);
}

function problemOf(name: string): string | undefined {
  if (name === '') return 'must not be empty';
  if (name.length > LONGEST_NAME) return `must have at most ${LONGEST_NAME} characters`;
  if (/\p{C}/u.test(name)) return 'must not hold control characters';
  return name.trim() === name ? undefined : 'must not begin or end with a blank';
}
