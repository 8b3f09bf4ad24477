import { describe, expect, it } from 'vitest';
import { createGateway } from './generate.ts';
import type { GatewayDependencies } from './generation/gateway-dependencies.ts';
import type { GenerationInput } from './request/generation-input.ts';

const FILE_ID = `file_${'a'.repeat(24)}`;
const FILE_BYTES = 100;

/** A gateway with room for one request with its file, which is read for ever. */
function gatewayThatReads() {
  const reads: string[] = [];
  const dependencies: Partial<Record<keyof GatewayDependencies, unknown>> = {
    clock: { now: () => 0, monotonic: () => 0 },
    settings: () => ({
      vendor: 'signalbox',
      catalog: { resolve: () => undefined, providers: [] },
      maxFileBytes: FILE_BYTES,
      contentRoomBytes: 3 * FILE_BYTES,
    }),
    prepareBody: (_: string, body: object) => ({ body, report: [] }),
    byokCredentials: { of: async () => [] },
    files: {
      store: { find: async () => ({ id: FILE_ID, mimeType: 'text/plain', sizeBytes: FILE_BYTES }) },
      bytes: {
        read: async (id: string) => {
          reads.push(id);
          return (async function* () {
            for (;;) {
              await new Promise((resolve) => setImmediate(resolve));
              yield Buffer.alloc(0);
            }
          })();
        },
      },
    },
  };
  return { gateway: createGateway(dependencies as unknown as GatewayDependencies), reads };
}

function inputOf(signal: AbortSignal): GenerationInput {
  return {
    format: 'chat',
    caller: { workspaceId: 'w', workspace: {} },
    body: {
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: FILE_ID } }] }],
    },
    signal,
    replied: () => Promise.resolve(),
    timing: { mark: () => {}, awaitUpstream: () => {}, answered: () => {} },
  } as unknown as GenerationInput;
}

describe('a caller who leaves while files are read', () => {
  it.each(['stream', 'complete', 'countTokens', 'explain'] as const)(
    'makes room for the next (%s)',
    async (work) => {
      const { gateway, reads } = gatewayThatReads();
      const gone = new Error('gone');
      const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
      const reading = gateway[work](inputOf(first.signal));
      await expect.poll(() => reads).toHaveLength(1);
      await expect(gateway[work](inputOf(second.signal))).rejects.toMatchObject({ kind: 'overloaded' });
      expect(reads).toHaveLength(1);
      first.abort(gone);
      await expect(reading).rejects.toBe(gone);
      const next = gateway[work](inputOf(third.signal));
      await expect.poll(() => reads).toHaveLength(2);
      third.abort(gone);
      await expect(next).rejects.toBe(gone);
    },
  );
});
