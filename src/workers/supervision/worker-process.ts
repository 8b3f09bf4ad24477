import type { ChildProcess } from 'node:child_process';
import cluster from 'node:cluster';
import type { Socket } from 'node:net';
import { Channel, type ChannelSockets, type Handlers } from '../channel/channel.ts';
import { ForwardedRequests, type ForwardedRequestsOptions } from '../forwarding/forwarded-requests.ts';
import type { OwnerForwardingCalls, WorkerForwardingCalls } from '../forwarding/forwarding-calls.ts';
import { WholeLines } from './whole-lines.ts';
import { CALLS, FORWARDING } from './worker-sockets.ts';

export interface WorkerProcessOptions {
  readonly module: string;
  /** Its number: 1, 2, 3 and so on. */
  readonly number: number;
  readonly forwarding: Omit<ForwardedRequestsOptions, 'tell'>;
  /** Takes what the process writes to stderr, in whole lines. */
  writeLog(lines: string): void;
  /** The process is gone, and all that it has sent was handled. Called once. */
  gone(reason: string): void;
  /** A message of the worker could not be handled: a fault of this program. */
  failed(name: string, error: unknown): void;
}

/** stderr, the channel of `node:cluster` for the port, then the sockets of `worker-sockets.ts`. */
const STDIO = ['ignore', 'inherit', 'pipe', 'ipc', 'pipe', 'pipe', 'pipe', 'pipe'];

/** A serving process, as the owner sees it. */
export class WorkerProcess<Remote extends Handlers> {
  readonly number: number;
  readonly channel: Channel<Remote, Handlers>;
  readonly #options: WorkerProcessOptions;
  readonly #child: ChildProcess;
  readonly #forwarded: ForwardedRequests;
  readonly #forwarding: Channel<WorkerForwardingCalls, OwnerForwardingCalls>;
  readonly #whenExited: Promise<string>;

  /** Throws when the system starts no further process. */
  constructor(options: WorkerProcessOptions, handlers: Handlers) {
    const { module, number, failed } = options;
    this.number = number;
    this.#options = options;
    // Workers accept from one socket, as they have time: that costs the owner nothing, and no connection waits for a
    // worker that is busy or dead.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: module, args: [], stdio: STDIO });
    const forked = cluster.fork();
    forked.on('error', () => {});
    const child = forked.process;
    // Too many open files: there is no process then, and nothing to talk to it.
    if (child.stdio === undefined) throw new Error('no process could be started');
    this.#child = child;
    this.#whenExited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
      child.once('error', (error) => resolve(error.message));
    });
    const lines = new WholeLines((text) => options.writeLog(text));
    child.stderr?.on('data', (bytes: Buffer) => lines.push(bytes)).on('close', () => lines.end());
    const sockets = child.stdio as readonly unknown[] as readonly Socket[];
    const socketsOf = ({ toOwner, toWorker }: typeof CALLS): ChannelSockets => ({
      incoming: sockets[toOwner] as Socket,
      outgoing: sockets[toWorker] as Socket,
    });
    this.channel = new Channel(socketsOf(CALLS), handlers, {
      closed: () => void this.#end(),
      failed,
    });
    this.#forwarded = new ForwardedRequests({
      ...options.forwarding,
      tell: (name, ...args) => this.#forwarding.note(name, ...args),
    });
    this.#forwarding = new Channel(socketsOf(FORWARDING), this.#forwarded.handlers, {
      closed: () => this.kill(),
      failed,
    });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Resolves with the signal or the exit code that it ended with. */
  get whenExited(): Promise<string> {
    return this.#whenExited;
  }

  /** All that the worker has sent is read. One that hangs, or lives on without its channel, is ended. */
  async #end(): Promise<void> {
    this.kill();
    const reason = await this.#whenExited;
    this.#forwarded.workerGone();
    this.#options.gone(reason);
  }
}
