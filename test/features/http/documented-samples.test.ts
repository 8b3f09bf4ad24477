import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXAMPLES_FILE } from '../../../src/http/examples.ts';
import { codeSamplesOf, SAMPLE_ORIGIN } from '../../../src/http/openapi/code-samples.ts';
import type { ListedRoute } from '../../../src/http/route.ts';
import { routesFor } from '../../../src/http/routes/routes.ts';
import { isJsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';

const bash = promisify(execFile);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({ providers: [{ slug: 'simulator' }] });
  await gateway.fetch('/workspaces/default', {
    method: 'PATCH',
    key: gateway.managementKey,
    body: JSON.stringify({ is_observability_io_logging_enabled: true }),
    headers: { 'content-type': 'application/json' },
  });
  writeFileSync(join(gateway.dataDir, 'notes.txt'), 'Hello.\n');
});

afterAll(() => gateway.close());

/** False for a route that always refuses, and for the content of a file that a tool would have to make. */
function isAnswered({ operationId, responses }: ListedRoute): boolean {
  return operationId !== 'downloadFile' && Object.keys(responses).some((status) => status.startsWith('2'));
}

/** What is made comes first and is removed last, so that every sample finds what it names. */
const ORDER: readonly RegExp[] = [
  /^(?:create|upload|set|assign)/,
  /^(?!remove|delete)/,
  /^remove/,
  /^delete/,
];

function inOrder(routes: readonly ListedRoute[]): ListedRoute[] {
  const [deletes, others] = [true, false].map((isDelete) =>
    routes.filter(({ operationId }) => operationId.startsWith('delete') === isDelete),
  ) as [ListedRoute[], ListedRoute[]];
  const rank = ({ operationId }: ListedRoute) => ORDER.findIndex((pattern) => pattern.test(operationId));
  // What belongs to something else stands below it in the table.
  return [...others.sort((one, other) => rank(one) - rank(other)), ...deletes.reverse()];
}

/** Runs a sample in a shell, as a reader would paste it. */
async function pasted(code: string): Promise<{ readonly status: number; readonly text: string }> {
  const line = code
    .replaceAll(SAMPLE_ORIGIN, gateway.origin)
    .replace(/^curl/, "curl -sS -w '\\n%{http_code}'");
  const { stdout } = await bash('bash', ['-c', line], {
    cwd: gateway.dataDir,
    maxBuffer: 16_000_000,
    env: {
      ...process.env,
      SIGNALBOX_API_KEY: gateway.apiKey,
      SIGNALBOX_MANAGEMENT_KEY: gateway.managementKey,
    },
  });
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), text: stdout.slice(0, end) };
}

/**
 * Members of an answer that are shown and not sent, sent and not shown, or sent as something else. Null stands for any
 * value, an empty list for any list.
 */
function differences(shown: unknown, sent: unknown, path = ''): string[] {
  if (shown === undefined || sent === undefined) return [path];
  if (shown === null || sent === null) return [];
  if (Array.isArray(shown) && Array.isArray(sent)) {
    return shown.length === 0 || sent.length === 0 ? [] : differences(shown[0], sent[0], `${path}[0]`);
  }
  if (!isJsonObject(shown)) return typeof shown === typeof sent ? [] : [path];
  if (!isJsonObject(sent)) return [path];
  const names = new Set([...Object.keys(shown), ...Object.keys(sent)]);
  return [...names].flatMap((name) => differences(shown[name], sent[name], `${path}.${name}`));
}

/** Ids of the examples and those that the gateway gave in their place. */
function idsIn(shown: unknown, sent: unknown): [string, string][] {
  if (!isJsonObject(shown) || !isJsonObject(sent)) return [];
  return Object.keys(shown).flatMap((name) => {
    const [one, other] = [shown[name], sent[name]];
    const isId = (name === 'id' || name === 'hash') && typeof one === 'string' && typeof other === 'string';
    return isId ? [[one, other] as [string, string]] : idsIn(one, other);
  });
}

/** Set to write the answers that differ into the file of examples. */
const isRecording = process.env.RECORD_EXAMPLES !== undefined;

/** Writes answers into the file, with the ids that its requests name in place of those of this gateway. */
function record(answers: ReadonlyMap<string, string>, ids: ReadonlyMap<string, string>): void {
  const examples = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8'));
  for (const [operationId, text] of answers) {
    const answer = [...ids].reduce((so, [shown, given]) => so.replaceAll(given, shown), text);
    examples[operationId] = { ...examples[operationId], answer: JSON.parse(answer) };
  }
  writeFileSync(EXAMPLES_FILE, JSON.stringify(examples));
}

it('are answered as the documentation shows, pasted into a shell', async () => {
  const wrong: string[] = [];
  const ids = new Map<string, string>();
  const answers = new Map<string, string>();
  for (const route of inOrder(routesFor('signalbox').filter(isAnswered))) {
    const [curl] = codeSamplesOf(route, '/api/v1');
    const code = [...ids].reduce((text, [shown, given]) => text.replaceAll(shown, given), curl?.code ?? '');
    const { status, text } = await pasted(code);
    const wanted = Object.keys(route.responses).find((name) => name.startsWith('2'));
    const shown = route.example?.answer;
    if (String(status) !== wanted) wrong.push(`${route.operationId}: ${status} ${text.slice(0, 300)}`);
    // The description itself is shown in part.
    else if (typeof shown !== 'string' && route.operationId !== 'getInterfaceDescription') {
      const sent: unknown = JSON.parse(text);
      for (const [one, other] of idsIn(shown, sent)) ids.set(one, ids.get(one) ?? other);
      const found = differences(shown, sent);
      if (found.length > 0) answers.set(route.operationId, text);
      wrong.push(...found.map((path) => `${route.operationId}: ${path} differs`));
    }
  }
  if (isRecording) record(answers, ids);
  else expect(wrong).toEqual([]);
});
