import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { openInstallation } from '../../../src/app/installation.ts';
import { type EventSums, eventSumsOf } from '../../kit/builders/event-sums.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { killHard, PROGRAM, signalbox } from '../../kit/program.ts';
import { type RecordedAnswer, recordedAnswers } from './recorded-answers.ts';
import { loggedAnswer, type SentAnswer } from './sent-answers.ts';

/** A gateway that is killed again and again, and an upstream that lives on and keeps its own log. */
export interface Lives {
  readonly folder: string;
  /** What the upstream knows. */
  readonly sent: SentAnswer[];
  /** What callers were given, by caller, whole or cut off. */
  readonly received: Map<string, ReceivedAnswer>;
  /** Answers whose last byte came. */
  readonly acknowledged: Acknowledged[];
  /** Milliseconds from each start to its being ready. */
  readonly readyAfterMs: number[];
  /**
   * Serves a mixed load of so many requests a second until it is killed, after `meanwhile` at the earliest. Resolves
   * with the moment of the kill, by `performance.now()`.
   */
  live(
    perSecond: number,
    forMs: number,
    meanwhile?: (living: ChildProcess) => Promise<void>,
  ): Promise<number>;
  /** Starts once more, waits and stops it in order. Returns its records, the result of verify, and the counted sums. */
  rest(): Promise<{
    readonly recorded: RecordedAnswer[];
    readonly verified: Verified;
    readonly counted: readonly Counted[];
  }>;
  close(): Promise<void>;
}

/** An answer whose last byte came to its caller. */
export interface Acknowledged {
  readonly user: string;
  readonly id: string;
}

/** What a caller knows of its answer. */
export interface ReceivedAnswer {
  /** When it asked, by `performance.now()`. */
  readonly askedAtMs: number;
  /** Tokens that came, and when. */
  readonly tokens: { readonly count: number; readonly atMs: number }[];
}

/** What `ledger verify --json` says. */
export interface Verified {
  readonly accounts: readonly { readonly difference_nanos: number | string }[];
  readonly open_reservations: number;
  readonly generations: number;
}

/** What an account was charged by the ledger, and what its events sum up to. */
export interface Counted {
  readonly settledNanos: bigint;
  readonly events: EventSums;
}

const API_KEY = 'sk-sb-v1-api-key-of-the-lives';

/** Kinds of requests, and how many tokens each is answered with. */
const KINDS = [
  { stream: false, tokens: 20 },
  { stream: true, tokens: 30 },
  { stream: true, tokens: 400 },
  { stream: true, tokens: 1500 },
  // Lasts for seconds, so that it has several checkpoints.
  { stream: true, tokens: 400, pauseMs: 100 },
] as const;

type Kind = (typeof KINDS)[number] & { readonly pauseMs?: number };

/** `flags`: those that each life is started with. */
export async function openLives(flags: readonly string[] = []): Promise<Lives> {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-lives-'));
  const upstream = await openFakeUpstream();
  const sent: SentAnswer[] = [];
  const received: Lives['received'] = new Map();
  const acknowledged: Acknowledged[] = [];
  const readyAfterMs: number[] = [];
  let child: ChildProcess | undefined;
  let asked = 0;
  upstream.answer(loggedAnswer(sent));
  writeFileSync(join(folder, 'signalbox.yaml'), configuration(upstream));

  const start = async () => {
    const started = performance.now();
    const life = await startGateway(folder, flags);
    child = life.child;
    readyAfterMs.push(performance.now() - started);
    return life;
  };

  return {
    folder,
    sent,
    received,
    acknowledged,
    readyAfterMs,
    async live(perSecond, forMs, meanwhile) {
      const { url, child: living } = await start();
      const callers: Promise<void>[] = [];
      const timer = setInterval(() => {
        const user = `caller ${asked++}`;
        const kind = KINDS[asked % KINDS.length] as Kind;
        const answer: ReceivedAnswer = { askedAtMs: performance.now(), tokens: [] };
        received.set(user, answer);
        callers.push(
          ask(url, user, kind, answer).then((id) => {
            if (id !== undefined) acknowledged.push({ user, id });
          }),
        );
      }, 1000 / perSecond);
      await Promise.all([delay(forMs), meanwhile?.(living)]);
      const killedAt = performance.now();
      await killHard(living);
      clearInterval(timer);
      await Promise.all(callers);
      return killedAt;
    },
    async rest() {
      const { child: living } = await start();
      const gone = new Promise((resolve) => living.once('exit', resolve));
      living.kill('SIGTERM');
      await gone;
      const { out } = signalbox(folder, ['ledger', 'verify', '--json', '--data-dir', join(folder, 'data')]);
      return {
        recorded: recordedAnswers(join(folder, 'data')),
        verified: JSON.parse(out) as Verified,
        counted: await countedIn(join(folder, 'data')),
      };
    },
    async close() {
      if (child?.exitCode === null && child.signalCode === null) await killHard(child);
      await upstream.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** How long events may be behind what was settled, milliseconds. */
const EVENTS_MS = 15_000;

/** Both sums of every account, once they are equal or should be. */
export async function countedIn(dataDir: string): Promise<Counted[]> {
  const { ledger, eventStore, close } = await openInstallation({ dataDir, keyPrefix: 'sk-' });
  try {
    const { accounts } = await ledger.verify();
    const giveUpAt = performance.now() + EVENTS_MS;
    for (;;) {
      const counted = await Promise.all(
        accounts.map(async ({ accountId, settledNanos }) => ({
          settledNanos,
          events: await eventSumsOf(eventStore, accountId),
        })),
      );
      const areEqual = counted.every(({ settledNanos, events }) => settledNanos === events.creditNanos);
      if (areEqual || performance.now() > giveUpAt) return counted;
      await delay(100);
    }
  } finally {
    await close();
  }
}

function configuration(upstream: FakeUpstream): string {
  const pricing = { prompt: '0', completion: '0.00004' };
  return stringify({
    providers: [{ slug: 'acme', name: 'Acme', dialect: 'openai-chat', base_url: upstream.url }],
    models: [{ id: 'm/one', endpoints: [{ provider: 'acme', model: 'one', pricing }] }],
    credits: { initial_usd: 1000 },
    routing: { cooldown: { failures: 1000 } },
  });
}

async function startGateway(
  folder: string,
  flags: readonly string[],
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [PROGRAM, '--port', '0', ...flags], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', SIGNALBOX_API_KEY: API_KEY },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const address = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr?.on('data', (piece) => {
      if (text === 'ready') return;
      text += String(piece);
      const line = text.split('\n').find((each) => each.includes('"ready"') && each.endsWith('}'));
      if (line === undefined) return;
      text = 'ready';
      resolve((JSON.parse(line) as { address: string }).address);
    });
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${text}`)));
  });
  return { child, url: address };
}

/** Resolves with the id of the generation once its last byte came; with nothing when it did not come. */
function ask(
  url: string,
  user: string,
  { stream, tokens, pauseMs }: Kind,
  received: ReceivedAnswer,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const call = request(`${url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    });
    call.on('error', () => resolve(undefined));
    call.on('response', (response) => {
      const id = String(response.headers['x-generation-id']);
      response.on('data', (piece) => {
        text += String(piece);
        const count = String(piece).split('"word ').length - 1;
        if (count > 0) received.tokens.push({ count, atMs: performance.now() });
      });
      response.on('error', () => resolve(undefined));
      response.on('close', () => resolve(undefined));
      response.on('end', () => {
        const isWhole = stream ? text.includes('[DONE]') && !text.includes('"error"') : response.complete;
        resolve(response.statusCode === 200 && isWhole ? id : undefined);
      });
    });
    const messages = [{ role: 'user', content: `${user}; ${tokens}; ${pauseMs ?? ''}` }];
    call.end(JSON.stringify({ model: 'm/one', user, stream, messages }));
  });
}
