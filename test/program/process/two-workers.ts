import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as sendPlain } from 'node:http';
import { request as sendSecure } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { end, head, SSE, stall, write } from '../../kit/fakes/fake-upstream.ts';
import { keysIn, type StartedProgram, startProgram, stopped } from '../../kit/started-program.ts';

/** How long a busy machine may take for what is done at once. */
const PATIENCE = { timeout: 30_000, interval: 50 };

/** Generations that `TwoWorkers.fromBoth` sends together. */
export const AT_ONCE = 8;

/** A stream that pauses before its end. */
export const slowAnswer = (milliseconds: number) => [
  head(200, SSE),
  write('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'),
  stall(milliseconds),
  write(
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],' +
      '"usage":{"prompt_tokens":10,"completion_tokens":10}}\n\ndata: [DONE]\n\n',
  ),
  end(),
];

/** A reply to a request of JSON. */
export interface Reply {
  readonly status: number;
  /** The body: parsed if it is an object, else its text. */
  readonly json: any;
}

/** How a gateway with two workers is opened. */
export interface TwoWorkersOptions {
  readonly env?: Record<string, string>;
  /** Writes files beside the configuration. */
  prepare?(folder: string): void;
}

/** A built gateway with two workers, on a folder of its own. */
export class TwoWorkers {
  readonly folder: string;
  readonly management: string;
  readonly key: string;
  readonly #env: Record<string, string>;
  #program: StartedProgram;

  private constructor(folder: string, env: Record<string, string>, program: StartedProgram) {
    this.folder = folder;
    this.#env = env;
    this.#program = program;
    [this.management = '', this.key = ''] = keysIn(program.stdout());
  }

  static async open(
    configuration: string,
    { env = {}, prepare }: TwoWorkersOptions = {},
  ): Promise<TwoWorkers> {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-workers-'));
    writeFileSync(join(folder, 'signalbox.yaml'), configuration);
    prepare?.(folder);
    const program = await startProgram(folder, env, ['--workers', '2']);
    await vi.waitFor(() => expect(keysIn(program.stdout()).length).toBeGreaterThan(1), PATIENCE);
    return new TwoWorkers(folder, env, program);
  }

  /** The process that was started: the owner of the workers. */
  get program(): StartedProgram {
    return this.#program;
  }

  /** Starts it again on the same folder, after its end. */
  async startAgain(): Promise<void> {
    this.#program = await startProgram(this.folder, this.#env, ['--workers', '2']);
  }

  /** Replaces the configuration file and has it loaded. */
  reload(configuration: string): void {
    writeFileSync(join(this.folder, 'signalbox.yaml'), configuration);
    this.#program.child.kill('SIGHUP');
  }

  /** Processes of the gateway besides the one that was started. */
  workers(): number[] {
    const { pid } = this.#program.child;
    const tasks = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return tasks.trim().split(' ').filter(Boolean).map(Number);
  }

  /** A JSON request over a connection of its own, so that any worker may get it. */
  call(method: string, path: string, secret: string, body?: unknown): Promise<Reply> {
    const isSecure = this.#program.url.startsWith('https:');
    return new Promise((resolve, reject) => {
      const options = {
        method,
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        ...(isSecure ? { agent: false as const, rejectUnauthorized: false } : { agent: new Agent() }),
      };
      const send = isSecure ? sendSecure : sendPlain;
      const request = send(`${this.#program.url}${path}`, options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => {
          const json = text.startsWith('{') ? JSON.parse(text) : text;
          resolve({ status: response.statusCode ?? 0, json });
        });
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Asks the model `local/one` once. */
  ask(secret = this.key, more: object = {}): Promise<Reply> {
    const messages = [{ role: 'user', content: 'Hello' }];
    return this.call('POST', '/chat/completions', secret, { model: 'local/one', messages, ...more });
  }

  /** True if the whole stream came; rejects or false if its connection was cut. */
  async streamed(): Promise<boolean> {
    const answer = await fetch(`${this.#program.url}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.key}`,
        'content-type': 'application/json',
        connection: 'close',
      },
      body: JSON.stringify({
        model: 'local/one',
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    });
    return (await answer.text()).includes('[DONE]');
  }

  /**
   * Sends generations, `AT_ONCE` at a time, until both workers have run some: one may accept many connections that come
   * together. Resolves with all replies. `meanwhile` is called while those of one round are under way.
   */
  async fromBoth<Sent>(send: () => Promise<Sent>, meanwhile = async () => {}): Promise<Sent[]> {
    const replies: Sent[] = [];
    const before = this.#program.stderr().length;
    await vi.waitFor(async () => {
      const sent = Promise.all(Array.from({ length: AT_ONCE }, send));
      await meanwhile();
      replies.push(...(await sent));
      const lines = this.#program.stderr().slice(before);
      const workers = lines.matchAll(/"message":"generation","worker":(\d)/g);
      expect(new Set([...workers].map(([, worker]) => worker)).size).toBe(2);
    }, PATIENCE);
    return replies;
  }

  /** As `fromBoth`; resolves with the statuses that there were. */
  async statusesOfBoth(send: () => Promise<Reply>): Promise<number[]> {
    const replies = await this.fromBoth(send);
    return [...new Set(replies.map(({ status }) => status))].sort();
  }

  /** Figures of `/metrics` by name and labels. */
  async metrics(): Promise<Map<string, number>> {
    const url = new URL('/metrics', this.#program.url);
    const headers = { authorization: `Bearer ${this.management}` };
    const text = await (await fetch(url, { headers })).text();
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
    );
  }

  /** Waits until a figure of `/metrics` has a value. */
  async until(figure: string, value: number): Promise<void> {
    await vi.waitFor(async () => expect((await this.metrics()).get(figure)).toBe(value), PATIENCE);
  }

  async close(): Promise<void> {
    await stopped(this.#program.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
