import { Socket } from 'node:net';
import { CALLS, FORWARDING } from '../workers/supervision/worker-sockets.ts';
import { definePlainGlobals, limitGarbage } from './commands/serve.ts';

// A serving process that a gateway with several workers has started. It ends with its owner, and at its word only:
// a terminal or a service manager sends signals to all processes of a gateway at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

// Files are private to the user, also those that libraries create.
process.umask(0o077);

definePlainGlobals();
limitGarbage();
const { Worker } = await import('../app/worker.ts');
const socketsOf = ({ toOwner, toWorker }: typeof CALLS) => ({
  incoming: new Socket({ fd: toWorker }),
  outgoing: new Socket({ fd: toOwner }),
});
new Worker({ calls: socketsOf(CALLS), forwarding: socketsOf(FORWARDING) }, () => process.exit());
