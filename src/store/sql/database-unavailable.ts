import { GatewayError } from '../../ir/errors.ts';

/** A database does not answer in time. Callers get a 503 with the reason in general terms; `cause` has the details. */
export class DatabaseUnavailable extends GatewayError {
  constructor(cause?: unknown, reason = 'the database does not answer') {
    super('overloaded', `Service temporarily unavailable: ${reason}`, { retryAfterSeconds: 1, cause });
  }
}

/**
 * Classes of PostgreSQL codes that mean a temporary failure: connection, authorization, catalogue name, resources,
 * intervention, system. Wrong passwords and database names count as temporary, because they were right at the start.
 */
const UNAVAILABLE_CLASSES = new Set(['08', '28', '3D', '53', '57', '58']);

/** A read-only server is being replaced in a failover. */
const READ_ONLY = '25006';

/** Driver codes for wrong statements; the connection still works. */
const STATEMENT_ERRORS = new Set(['UNDEFINED_VALUE', 'MAX_PARAMETERS_EXCEEDED']);

/** Server codes contain a digit, unlike codes of the driver and the system (`EPIPE`). */
const SERVER_CODE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** Whether the connection still works: the server answered the error, or the driver did not send the statement. */
export function isAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return code !== READ_ONLY && (SERVER_CODE.test(code) || STATEMENT_ERRORS.has(code));
}

/** PostgreSQL cannot store U+0000 in text: a 400 for the caller. */
const NUL_IN_TEXT = '22021';

/** Maps temporary failures of PostgreSQL to DatabaseUnavailable. */
export function databaseProblemOf(error: unknown): unknown {
  if (codeOf(error) === NUL_IN_TEXT) {
    return new GatewayError('invalid-request', 'Text must not hold the character U+0000', { cause: error });
  }
  const isUnavailable = !isAnswer(error) || UNAVAILABLE_CLASSES.has(codeOf(error).slice(0, 2));
  return isUnavailable && !(error instanceof DatabaseUnavailable) ? new DatabaseUnavailable(error) : error;
}

/** Whether an error, or one of its causes, says that the database does not answer. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  return error instanceof Error && isDatabaseAway(error.cause);
}

/** Code of why a database does not answer: the error's own, or that of its cause. */
export function awayCodeOf(error: unknown): string {
  for (let reason = error; reason instanceof Error; reason = reason.cause) {
    const code = codeOf(reason);
    if (code !== '') return code;
  }
  return 'no answer';
}

/** Code of an error of driver or server; empty without one. */
export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
