import { GatewayError } from '../../ir/errors.ts';

/** The database does not answer, or not in time. Whoever called hears a 503 that names nothing of ours. */
export class DatabaseUnavailable extends GatewayError {
  constructor(cause?: unknown) {
    super('overloaded', 'Service temporarily unavailable', { retryAfterSeconds: 1, cause });
  }
}

/**
 * What the server says when it cannot work now, by the class of its code: connection, authorization, catalogue name,
 * resources, intervention, system. That the password or the name of the database is wrong is of this kind for a gateway
 * that runs: they were right before.
 */
const UNAVAILABLE_CLASSES = new Set(['08', '28', '3D', '53', '57', '58']);

/** A server that only reads is one that is being replaced. */
const READ_ONLY = '25006';

/** Codes of the driver that blame the question, not the connection. */
const STATEMENT_ERRORS = new Set(['UNDEFINED_VALUE', 'MAX_PARAMETERS_EXCEEDED']);

/** Codes of the server have a digit, unlike those of the driver and of the system (`EPIPE`). */
const SERVER_CODE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** Whether an error is what the server answered, or what the driver would not even ask: its connection works. */
export function isAnswer(error: unknown): boolean {
  const code = codeOf(error);
  return code !== READ_ONLY && (SERVER_CODE.test(code) || STATEMENT_ERRORS.has(code));
}

/** PostgreSQL alone keeps no text with this character: whoever sent it is told so. */
const NUL_IN_TEXT = '22021';

/** An error of the driver: as a DatabaseUnavailable where it says that the database cannot work now. */
export function databaseProblemOf(error: unknown): unknown {
  if (codeOf(error) === NUL_IN_TEXT) {
    return new GatewayError('invalid-request', 'Text must not hold the character U+0000', { cause: error });
  }
  const isUnavailable = !isAnswer(error) || UNAVAILABLE_CLASSES.has(codeOf(error).slice(0, 2));
  return isUnavailable && !(error instanceof DatabaseUnavailable) ? new DatabaseUnavailable(error) : error;
}

/** What the driver or the server calls the error; empty when it has no name. */
export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
