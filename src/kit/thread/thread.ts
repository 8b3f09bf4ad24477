import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads';
import { isInTime } from '../loop/is-in-time.ts';
import type { FromThread, ToThread } from './messages.ts';

export interface ThreadOptions {
  /** What the program gets as `workerData`. */
  readonly data?: unknown;
  readonly limits?: ResourceLimits;
  /** What the program prints is dropped. */
  readonly isSilent?: boolean;
  /** Called with what the program tells without being asked. */
  readonly onNotice?: (notice: unknown) => void;
}

export interface AskOptions {
  /** Buffers that are handed over, and unusable here afterwards. */
  readonly moved?: readonly Transferable[];
  /** Interrupts the work on the question, which rejects at once with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** The thread is terminated if the answer takes longer, milliseconds. */
  readonly limitMs?: number;
}

export class ThreadEnded extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ThreadEnded';
  }
}

/** Whether a thread ended because it needed more memory than its limits. */
export function isThreadTooBig(error: unknown): boolean {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  return error instanceof ThreadEnded && cause?.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

export class ThreadTooSlow extends ThreadEnded {}

interface Asked<Answer> {
  resolve(answer: Answer): void;
  reject(reason: unknown): void;
}

/**
 * A worker thread that runs a program of its own (`answerQuestions`) and answers questions. Never reused after its
 * end. It keeps the process alive only while a question is open.
 */
export class Thread<Question, Answer> {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #asked = new Map<number, Asked<Answer>>();
  #lastId = 0;
  #end: ThreadEnded | undefined;

  /** `program`: a module in JavaScript, beside the caller's once both are compiled. */
  constructor(program: URL, { data, limits, isSilent = false, onNotice }: ThreadOptions = {}) {
    this.#worker = new Worker(program, {
      // Loader flags of the process do not apply to the thread.
      execArgv: [],
      workerData: data,
      stdout: isSilent,
      stderr: isSilent,
      ...(limits !== undefined && { resourceLimits: limits }),
    });
    this.#worker.on('message', (reply: FromThread<Answer>) => {
      if ('notice' in reply) onNotice?.(reply.notice);
      else if ('answer' in reply) this.#asked.get(reply.id)?.resolve(reply.answer);
      else {
        const { message, members } = reply.failure;
        this.#asked.get(reply.id)?.reject(Object.assign(new Error(message), members));
      }
    });
    this.#worker.on('error', (cause) => this.#ended(new ThreadEnded('the thread failed', { cause })));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#ended(new ThreadEnded('the thread has ended'));
        resolve();
      });
    });
    this.#worker.unref();
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Rejects with the error of the program, or with ThreadEnded. */
  async ask(question: Question, { moved = [], signal, limitMs }: AskOptions = {}): Promise<Answer> {
    signal?.throwIfAborted();
    if (this.#end !== undefined) throw this.#end;
    this.#lastId += 1;
    const id = this.#lastId;
    const interrupt = () => {
      this.#send({ interrupted: id });
      this.#asked.get(id)?.reject(signal?.reason);
    };
    const timer =
      limitMs === undefined
        ? undefined
        : setTimeout(() => void this.terminate(new ThreadTooSlow('the thread takes too long')), limitMs);
    this.#worker.ref();
    signal?.addEventListener('abort', interrupt);
    try {
      return await new Promise<Answer>((resolve, reject) => {
        this.#asked.set(id, { resolve, reject });
        this.#send({ id, question, canBeInterrupted: signal !== undefined }, moved);
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      this.#asked.delete(id);
      if (this.#asked.size === 0) this.#worker.unref();
    }
  }

  /** Lets the thread end after its current work. */
  async close(withinMs: number): Promise<void> {
    if (this.#end === undefined) this.#send(null);
    await isInTime(this.#exited, withinMs);
  }

  /** Ends the thread at once; open questions reject with the reason. */
  async terminate(reason = new ThreadEnded('the thread was closed')): Promise<void> {
    this.#ended(reason);
    await this.#worker.terminate();
  }

  #send(message: ToThread<Question>, moved: readonly Transferable[] = []): void {
    this.#worker.postMessage(message, moved);
  }

  #ended(reason: ThreadEnded): void {
    this.#end ??= reason;
    for (const { reject } of this.#asked.values()) reject(reason);
  }
}
