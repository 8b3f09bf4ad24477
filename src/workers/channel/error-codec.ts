import { type ErrorDetails, type ErrorKind, GatewayError } from '../../ir/errors.ts';
import { LedgerUnavailable } from '../../ports/money/ledger.ts';

/** An error as plain data. */
export interface EncodedError {
  readonly name: string;
  readonly message: string;
  /** Code of the system, the driver or the database, and what it concerns. */
  readonly system: Readonly<Record<string, string | number>>;
  /** Members of a GatewayError; absent for other errors. */
  readonly gateway?: { readonly kind: ErrorKind } & Omit<ErrorDetails, 'cause'>;
  readonly cause?: EncodedError;
}

const MAX_CAUSES = 4;

/** Makes plain data of a thrown thing. Its class is kept if the other process has to tell it from others. */
export function encodeError(thrown: unknown, causes = MAX_CAUSES): EncodedError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown), system: {} };
  const { name, message, cause } = thrown;
  return {
    name,
    message,
    system: systemMembersOf(thrown),
    ...(thrown instanceof GatewayError && { gateway: membersOf(thrown) }),
    ...(cause instanceof Error && causes > 0 && { cause: encodeError(cause, causes - 1) }),
  };
}

/** Members of system errors, which tell operators what to do. */
const SYSTEM_MEMBERS = ['code', 'syscall', 'address', 'port', 'hostname', 'path'] as const;

function systemMembersOf(error: Error): EncodedError['system'] {
  const members = error as Error & Readonly<Record<string, unknown>>;
  const found: Record<string, string | number> = {};
  for (const name of SYSTEM_MEMBERS) {
    const value = members[name];
    if (typeof value === 'string' || typeof value === 'number') found[name] = value;
  }
  return found;
}

function membersOf(error: GatewayError): NonNullable<EncodedError['gateway']> {
  const { kind, metadata, details, retryAfterSeconds, headers, routing } = error;
  return {
    kind,
    headers,
    ...(metadata !== undefined && { metadata }),
    ...(details !== undefined && { details }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(routing !== undefined && { routing }),
  };
}

/** The error again: a GatewayError, a LedgerUnavailable, or an Error with the same name and message. */
export function decodeError(encoded: EncodedError): Error {
  const cause = encoded.cause && decodeError(encoded.cause);
  return Object.assign(errorOf(encoded, cause), encoded.system);
}

function errorOf({ name, message, gateway }: EncodedError, cause: Error | undefined): Error {
  if (gateway !== undefined) {
    const { kind, ...details } = gateway;
    return new GatewayError(kind, message, { ...details, cause });
  }
  if (name === LEDGER_UNAVAILABLE) return new LedgerUnavailable(message, cause);
  const error = new Error(message, { cause });
  if (error.name !== name) error.name = name;
  return error;
}

const LEDGER_UNAVAILABLE = new LedgerUnavailable('').name;
