import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { doubleAnswer } from '../../kit/fakes/agents/double-answer.ts';
import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import { SEAL } from '../../kit/fakes/agents/tool-loop.ts';
import type { UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import {
  end,
  type FakeUpstream,
  head,
  JSON_TYPE,
  never,
  openFakeUpstream,
  type RecordedRequest,
  type Step,
  write,
} from '../../kit/fakes/fake-upstream.ts';
import { CLIENTS, isInstalled } from './agent.ts';
import { usingWorkPlace } from './agent-loop.ts';
import { claudeSession, codexSession, type SessionAgent } from './session.ts';

/**
 * Sessions of 50 turns, as people hold them: words, pictures that tools show, commands, a turn that is interrupted, a
 * conversation that is summed up half way, and what the agents themselves say in between.
 */

const AGENTS = [claudeSession, codexSession].filter(isInstalled);
const TURNS = 50;

const PICTURE = 'picture.png';

type Deed = 'say' | 'look' | 'run' | 'wait';

const INTERRUPTED = 25;
const COMPACTED_AFTER = 30;

function deedOf(turn: number): Deed {
  if (turn === INTERRUPTED) return 'wait';
  if (turn % 10 === 3) return 'look';
  return turn % 10 === 6 ? 'run' : 'say';
}

const COMMANDS = Array.from({ length: TURNS }, (_, index) => deedOf(index + 1)).filter(
  (deed) => deed === 'run',
).length;

const promptOf = (turn: number) => `Turn ${turn}: ${deedOf(turn)}`;
const answerTo = (turn: number) => `That was turn ${turn}.`;
const callIn = (turn: number) => `call_of_turn_${turn}`;
const printedIn = (turn: number) => `printed-${turn * 7919}`;
const commandIn = (turn: number) => `printf 'printed-%s' $((${turn} * 7919)) | tee made-${turn}.txt`;

describe.skipIf(CLIENTS === undefined)('sessions of 50 turns', () => {
  describe.each(AGENTS)('$name', (agent) => {
    it.each(DOUBLES)('on $dialect', async (double) => {
      const upstream = await openFakeUpstream();
      await usingWorkPlace({ double, upstream, model: agent.model }, async ({ task, door }) => {
        writeFileSync(join(task.folder, PICTURE), picture());
        upstream.answer((request) => turnAnswer(agent, double, { request, folder: task.folder }));
        const isNative = agent.checks?.native === double.dialect;
        const session = await agent.open(task, { checksItself: !isNative });
        try {
          for (let turn = 1; turn <= TURNS; turn++) {
            if (turn === INTERRUPTED) {
              const count = upstream.requests.length;
              const ending = session.turn(promptOf(turn));
              const waiting = await arrived(upstream, count, promptOf(turn));
              session.interrupt();
              expect((await ending).status).toBe('interrupted');
              await waiting.closed;
              continue;
            }
            expect(await session.turn(promptOf(turn))).toEqual({ status: 'completed', text: answerTo(turn) });
            checkLast(agent, double, { upstream, turn });
            if (turn === COMPACTED_AFTER) await session.compact();
          }
        } finally {
          session.close();
        }
        expect(door.asked).toEqual([]);
        if (agent.checks === undefined) return;
        const { field, ownCheck } = agent.checks;
        const asking = upstream.requests.filter(({ json }) => json[field] !== undefined);
        const checking = upstream.requests.filter(({ body }) => ownCheck(body) !== undefined);
        expect(asking).toHaveLength(isNative ? upstream.requests.length : 0);
        expect(checking.length).toBeGreaterThanOrEqual(isNative ? 0 : COMMANDS);
        if (isNative) expect(checking).toEqual([]);
      });
    });
  });
});

describe.skipIf(CLIENTS === undefined || !isInstalled(claudeSession))('auto mode', () => {
  const others = DOUBLES.filter(({ dialect }) => dialect !== claudeSession.checks?.native);

  it.each(others)('goes on without safeguards on $dialect', async (double) => {
    const upstream = await openFakeUpstream();
    await usingWorkPlace({ double, upstream, model: claudeSession.model }, async ({ task, gateway }) => {
      upstream.answer((request) => turnAnswer(claudeSession, double, { request, folder: task.folder }));
      const session = await claudeSession.open(task);
      try {
        for (const turn of [1, 2]) {
          expect(await session.turn(promptOf(turn))).toEqual({ status: 'completed', text: answerTo(turn) });
        }
      } finally {
        session.close();
      }
      expect(upstream.requests.map(({ json }) => json.safeguards)).toEqual([undefined, undefined]);
      expect(gateway.logText().split('no endpoint of').length - 1).toBeLessThanOrEqual(2);
    });
  });
});

/** The request of a turn that is under way. */
async function arrived(upstream: FakeUpstream, from: number, prompt: string): Promise<RecordedRequest> {
  for (let index = from; ; index++) {
    const request = await upstream.request(index);
    if (request.body.includes(prompt)) return request;
  }
}

/** What the model does, by the last turn in its prompt. */
function turnAnswer(
  agent: SessionAgent,
  double: UpstreamDouble,
  { request, folder }: { request: RecordedRequest; folder: string },
): readonly Step[] {
  const { body, json } = request;
  const streamed = (bytes: Uint8Array) => [
    head(200, { 'content-type': double.mediaType }),
    write(bytes),
    end(),
  ];
  const isChecked = agent.checks !== undefined && json[agent.checks.field] !== undefined;
  const said = (text: string) => streamed(double.textStream(text, isChecked));
  try {
    const found = agent.checks?.ownCheck(body);
    if (found !== undefined) return doubleAnswer(double, { says: found })(request);
    if (body.includes(agent.summaryRequest)) return said('<summary>All went well.</summary>');
    const turn = Number([...body.matchAll(/Turn (\d+): /g)].at(-1)?.[1]);
    const deed = deedOf(turn);
    if (deed === 'wait') return [head(200, { 'content-type': double.mediaType }), never()];
    const isDone = double.stepsOf(json).some(({ call }) => call.id === callIn(turn));
    if (deed === 'say' || isDone) return said(answerTo(turn));
    const choose = deed === 'look' ? agent.look(join(folder, PICTURE)) : agent.run(commandIn(turn));
    const call = choose(double.toolsOf(json));
    if (call === undefined) throw new Error(`no tool for ${deed}`);
    const thoughts = double.hidesThoughts(json) ? '' : `Turn ${turn} wants it.`;
    return streamed(
      double.stepStream({ thoughts, seal: SEAL, call: { id: callIn(turn), ...call }, isChecked }),
    );
  } catch (error) {
    const message = `the double: ${error instanceof Error ? error.message : error}`;
    return [head(400, JSON_TYPE), write(JSON.stringify({ message, error: { message } })), end()];
  }
}

/** What the upstream got with the last request of a turn. */
function checkLast(
  agent: SessionAgent,
  double: UpstreamDouble,
  { upstream, turn }: { upstream: FakeUpstream; turn: number },
): void {
  const { body, json } = upstream.requests.at(-1) as RecordedRequest;
  expect(body).toContain(agent.ownTurn);
  const earliest = turn > COMPACTED_AFTER ? COMPACTED_AFTER + 1 : 1;
  for (let earlier = earliest; earlier < turn; earlier++) expect(body).toContain(promptOf(earlier));
  const steps = double.stepsOf(json).filter(({ call }) => call.id?.startsWith('call_of_turn_'));
  for (const { call, seal, output } of steps) {
    const of = Number(call.id?.slice('call_of_turn_'.length));
    expect(seal).toBe(SEAL);
    if (deedOf(of) === 'run') expect(output).toContain(printedIn(of));
  }
  if (deedOf(turn) === 'look') expect(body).toMatch(/iVBORw0KGgo|\/9j\//);
}

/** A picture in PNG: one colour, 64 by 64. */
function picture(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(64, 0);
  header.writeUInt32BE(64, 4);
  header.set([8, 2], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(64 * 3, 0xa0)]);
  const rows = Buffer.concat(Array.from({ length: 64 }, () => row));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
