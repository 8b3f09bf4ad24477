import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import type { Server } from 'node:net';

/** A listening socket that nobody listens to yet. */
export interface Door {
  close(): void;
}

/** What the other process says when it has started. */
const READY = 'ready';

/** Hands every socket that it is given back to whoever gave it, who so has it once more. */
const HAND_BACK = `
process.on('message', (message, door) => process.send(message, door, () => door?.close()));
process.on('disconnect', () => process.exit());
process.send('${READY}');
`;

/** How long the other process may take. Without it there are fewer doors, and all else is as it would be. */
const LONGEST_MS = 10_000;

/**
 * Makes `count` more sockets that listen where `server` does, and gives each to `open`.
 *
 * Node takes one connection from a listening socket in a turn of the event loop. In a gateway with much to do a turn takes
 * tens of milliseconds, and callers that connect would wait in the kernel, where nobody sees how many they are. A socket
 * can only be had a second time through another process, which is needed for just that.
 */
export class MoreDoors {
  readonly #process: ChildProcess | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #gone: Promise<void>;
  #missing: number;

  constructor(server: Server, count: number, open: (door: Door) => void) {
    this.#missing = count;
    this.#process = handBackProcess();
    this.#timer = setTimeout(() => void this.stop(), LONGEST_MS).unref();
    this.#gone = goneOf(this.#process);
    this.#process?.on('message', (message, door) => {
      // Not earlier: it would hold the sockets while it starts, and keep the place taken if we are killed meanwhile.
      if (message === READY) return this.#give(server);
      if (door === undefined) return void this.stop();
      if (this.#missing === 0) return (door as unknown as Door).close();
      open(door as unknown as Door);
      this.#missing--;
      if (this.#missing === 0) void this.stop();
    });
  }

  /** Waits for no more doors; resolves when nobody but us has any. */
  stop(): Promise<void> {
    this.#missing = 0;
    clearTimeout(this.#timer);
    // Whoever waits for its end may have nothing else left that keeps this process alive.
    this.#process?.ref();
    this.#process?.kill('SIGKILL');
    return this.#gone;
  }

  #give(server: Server): void {
    const given = socketOf(server);
    for (let index = 0; index < this.#missing && given !== undefined; index++) {
      this.#process?.send('door', given, () => {});
    }
  }
}

/** Undefined where the system lets none begin, as it may say at once. */
function handBackProcess(): ChildProcess | undefined {
  try {
    // It gets nothing of ours but the sockets: no environment, which has secrets, and no output.
    const begun = spawn(process.execPath, ['--eval', HAND_BACK], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {},
    });
    begun.unref();
    return begun;
  } catch {
    return undefined;
  }
}

function goneOf(begun: ChildProcess | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (begun === undefined) return resolve();
    begun.on('exit', () => resolve());
    // It never began.
    begun.on('error', () => resolve());
  });
}

/** A server would be listened to on the other side, where nobody answers; what it listens by is not. */
function socketOf(server: Server): SendHandle | undefined {
  return '_handle' in server ? (server._handle as SendHandle) : undefined;
}
