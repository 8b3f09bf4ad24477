import { expect } from 'vitest';
import { sendCommand } from '../../src/control/send-command.ts';
import type { JsonObject } from '../../src/kit/json/json.ts';
import type { TestGateway } from './gateway-harness.ts';

/** What a management route answered. */
export interface Answer {
  readonly status: number;
  readonly body: any;
}

/** Ways to manage what a gateway keeps: over HTTP with its management key or another, and by commands. */
export interface Management {
  ask(method: string, path: string, body?: JsonObject | string, key?: string | null): Promise<Answer>;
  /** The `data` of an answer with this status. */
  data(status: number, method: string, path: string, body?: JsonObject, key?: string): Promise<any>;
  command<Name extends Parameters<typeof sendCommand>[1]>(
    name: Name,
    input: any,
  ): ReturnType<typeof sendCommand<Name>>;
}

export function managementOf(gateway: TestGateway): Management {
  const ask: Management['ask'] = async (method, path, body, key = gateway.managementKey) => {
    const response = await gateway.fetch(path, {
      method,
      key,
      ...(body !== undefined && {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    ask,
    async data(status, ...request) {
      const answer = await ask(...request);
      expect(answer).toMatchObject({ status, body: { data: {} } });
      return answer.body.data;
    },
    command: (name, input) =>
      sendCommand(
        {
          dataDir: gateway.dataDir,
          openAlone: () => Promise.reject(new Error('a gateway runs')),
          isInUse: () => false,
        },
        name,
        input,
      ),
  };
}
