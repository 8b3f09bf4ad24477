import { portHolder } from './port-holder.ts';

/** Errors whose message is meant for the operator. */
const FOR_PEOPLE: ReadonlySet<string> = new Set([
  'GatewayError',
  'CommandRefused',
  'DataDirectoryProblem',
  'WorkerStartFailure',
]);

/** One line for errors that the operator can solve; the stack for bugs. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return `signalbox: ${String(error)}\n`;
  // Its message already has the form `path: problem`.
  if (error.name === 'ConfigurationError') return `${error.message}\n`;
  return `signalbox: ${sentenceOf(error)}\n`;
}

function sentenceOf(error: Error & SystemError): string {
  if (FOR_PEOPLE.has(error.name)) return `${error.message}${adviceOf(error)}`;
  if (error.syscall === undefined) return error.stack ?? error.message;
  const table = LISTENING_CALLS.has(error.syscall) ? LISTEN_FAILURES : FILE_FAILURES;
  const { code = '' } = error;
  return table[code]?.(error) ?? error.message;
}

/** What to do about a full disk of the database. Errors for callers of the API do not say it. */
function adviceOf({ name, cause }: Error): string {
  const { code } = (cause ?? {}) as SystemError;
  return name === 'GatewayError' && code === 'SQLITE_FULL'
    ? ` (${code}); make room on the disk of the data directory, then try again`
    : '';
}

/** System calls that fail if the gateway cannot listen; `bind` if it has workers. */
const LISTENING_CALLS: ReadonlySet<string> = new Set(['listen', 'bind', 'getaddrinfo']);

interface SystemError {
  readonly syscall?: string;
  readonly code?: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

type Sentences = Readonly<Record<string, (error: SystemError) => string>>;

/** Why the gateway cannot listen, and what to do. */
const LISTEN_FAILURES: Sentences = {
  EADDRINUSE: ({ address, port }) =>
    `port ${port} of ${address} is in use by ${holderText(port)}, or choose another port with --port`,
  EACCES: ({ address, port }) =>
    `this user may not listen on port ${port} of ${address}; choose a port above 1023 with --port, ` +
    'or give the program the capability CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: ({ address }) =>
    `this machine has no address ${address}; choose one of its addresses with --host, or 0.0.0.0 for all`,
  ENOTFOUND: ({ hostname }) => `the host name ${hostname} is not known; choose an address with --host`,
};

/** Names who has the port, and says how to end it. */
function holderText(port = 0): string {
  const holder = portHolder(port);
  if (holder === undefined) return 'another process; stop it';
  const { pid, name, isStopped } = holder;
  return isStopped
    ? `process ${pid} (${name}), which is stopped and does not end by itself; end it with kill -9 ${pid}`
    : `process ${pid} (${name}); stop it`;
}

/** Why a file cannot be used, and what to do. */
const FILE_FAILURES: Sentences = {
  EACCES: ({ path }) => `this user may not use ${path} (EACCES); give it to the user that runs signalbox`,
  EPERM: ({ path }) => `this user may not use ${path} (EPERM); give it to the user that runs signalbox`,
  ENOENT: ({ path }) => `${path} does not exist (ENOENT); see that the path is right`,
  ENOSPC: ({ path }) => `the disk of ${path} is full (ENOSPC); make room and start again`,
  EROFS: ({ path }) =>
    `${path} is on a read-only disk (EROFS); mount it writable, or choose another directory`,
  EMFILE: () => 'too many files are open (EMFILE); raise the limit of the process (ulimit -n)',
};
