import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../kit/net/redis-address.ts';

export interface RedisTimes {
  readonly connectMs: number;
  /** A connection on which nothing arrives for so long, although something was asked, is closed. */
  readonly silentMs: number;
}

const TIMES: RedisTimes = { connectMs: 2_000, silentMs: 2_000 };

/** Waits between attempts to connect, milliseconds. */
const RECONNECT_MS = 250;

export interface RedisScript {
  readonly text: string;
  readonly sha: string;
}

/** Makes a script known by its digest. */
export function redisScript(text: string): RedisScript {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

type Argument = string | number;

/**
 * A connection to Redis that is opened again when it is lost. Commands of one turn of the event loop are sent together.
 * A command that cannot be sent, or whose connection is lost, fails and is not sent again: it may have been done.
 */
export class RedisClient {
  readonly prefix: string;
  readonly #redis: Redis;
  #lastError: unknown;

  /** `prefix`: beginning of all keys. */
  constructor(address: RedisAddress, prefix: string, times: RedisTimes = TIMES) {
    this.prefix = prefix;
    this.#redis = new Redis({
      host: address.host,
      port: address.port,
      db: address.database,
      ...(address.user !== undefined && { username: address.user }),
      ...(address.password !== undefined && { password: address.password }),
      ...(address.isTls && { tls: { host: address.host } }),
      connectionName: 'signalbox',
      connectTimeout: times.connectMs,
      socketTimeout: times.silentMs,
      enableAutoPipelining: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => RECONNECT_MS,
    });
    this.#redis.on('error', (error) => {
      this.#lastError = error;
    });
    this.#redis.on('ready', () => {
      this.#lastError = undefined;
    });
  }

  /** Resolves once commands can be sent. Rejects with why they cannot, at the latest after the limit. */
  ready(limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = Object.assign(new Error('the connection took too long'), { code: 'ETIMEDOUT' });
      const timer = setTimeout(() => reject(this.#lastError ?? late), limitMs);
      const settle = (end: () => void) => () => {
        clearTimeout(timer);
        end();
      };
      if (this.#redis.status === 'ready') settle(resolve)();
      this.#redis.once('ready', settle(resolve));
      this.#redis.once(
        'error',
        settle(() => reject(this.#lastError)),
      );
    });
  }

  key(...parts: readonly string[]): string {
    return [this.prefix, ...parts].join(':');
  }

  /** Runs a script, and sends its text if the server does not know it. */
  async run(script: RedisScript, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    const rest = [keys.length, ...keys, ...args] as const;
    return this.#asked(async () => {
      try {
        return await this.#redis.evalsha(script.sha, ...rest);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return this.#redis.eval(script.text, ...rest);
      }
    });
  }

  call(command: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#asked(() => this.#redis.call(command, ...args.map(String)));
  }

  /** Resolves once the server lets keys be written. */
  async ping(): Promise<void> {
    await this.call('SET', this.key('alive'), 1, 'PX', 1000);
  }

  close(): void {
    this.#redis.disconnect();
  }

  /** A command that could not be sent fails with why there is no connection. */
  async #asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.#lastError === undefined || hasCode(error)) throw error;
      throw this.#lastError;
    }
  }
}

function hasCode(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code !== undefined;
}

/** What the client says of a command without a connection: it was lost, or is not there yet. */
const NO_CONNECTION = /^(Connection is closed|Stream isn't writeable)/;

/** Whether Redis answered that a key has another type than the command takes. Scripts may put words before it. */
export function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError' && /\bWRONGTYPE\b/.test(error.message);
}

/** Why Redis does not answer, for the log: the code of the system, or the first word of what the server says. */
export function redisErrorCode(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return code;
  if (isWrongType(error)) return 'WRONGTYPE';
  if (NO_CONNECTION.test(message ?? '')) return 'ECONNRESET';
  return /^[A-Z][A-Z0-9]+\b/.exec(message ?? '')?.[0] ?? 'no answer';
}
