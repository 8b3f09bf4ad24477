import { createHash } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/control/commands.ts';
import { PERMISSIONS } from '../../../src/endpoints/permissions.ts';
import { codeSamplesOf, SAMPLE_ORIGIN } from '../../../src/http/openapi/code-samples.ts';
import { describeRoutes } from '../../../src/http/openapi/openapi.ts';
import type { ListedRoute } from '../../../src/http/route.ts';
import { routesFor } from '../../../src/http/routes/routes.ts';
import { ask, startServer, stopServers } from '../../kit/http-harness.ts';

afterEach(stopServers);

const ROUTES = routesFor('signalbox');

const keyKindOf = ({ permission }: ListedRoute) => PERMISSIONS[permission];

describe('the route table', () => {
  it('has no two rows for one thing', () => {
    const places = ROUTES.map(({ method, mount, path }) => `${method} ${mount} ${path}`);
    expect(new Set(places).size).toBe(places.length);
    const names = ROUTES.map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it('serves every route of the contract', () => {
    const paths = ROUTES.filter(({ mount }) => mount === 'api').map(
      ({ method, path }) => `${method} ${path}`,
    );
    expect(paths.sort()).toEqual(
      [
        'POST /responses',
        'POST /responses/input_tokens',
        'POST /responses/compact',
        'POST /mcp',
        'GET /generation',
        'GET /generation/content',
        'GET /generations',
        'GET /generations/conversations',
        'GET /generations/counts',
        'GET /generations/running',
        'POST /messages',
        'POST /messages/count_tokens',
        'POST /chat/completions',
        'POST /embeddings',
        'POST /decisions',
        'POST /systemone',
        'POST /routing/explain',
        'GET /key',
        'GET /auth/key',
        'GET /models',
        'GET /models/count',
        'GET /models/user',
        'GET /model/{author}/{slug}',
        'GET /models/{id}',
        'GET /models/{author}/{slug}',
        'GET /models/{author}/{slug}/endpoints',
        'GET /providers',
        'POST /sessions',
        'GET /sessions',
        'GET /sessions/current',
        'DELETE /sessions/{id}',
        'POST /files',
        'GET /files',
        'GET /files/{file_id}',
        'GET /files/{file_id}/content',
        'DELETE /files/{file_id}',
        'GET /datasets/app-rankings',
        'GET /datasets/rankings-daily',
        'GET /analytics/meta',
        'POST /analytics/query',
        'GET /activity',
        'GET /overview',
        'GET /organization/members',
        'POST /organization/members',
        'GET /organization/members/{id}',
        'PATCH /organization/members/{id}',
        'DELETE /organization/members/{id}',
        'GET /workspaces/{id}/members',
        'POST /workspaces/{id}/members/add',
        'POST /workspaces/{id}/members/remove',
        'POST /guardrails',
        'GET /guardrails',
        'GET /guardrails/{id}',
        'PATCH /guardrails/{id}',
        'DELETE /guardrails/{id}',
        'POST /guardrails/{id}/test',
        'GET /guardrails/assignments/keys',
        'GET /guardrails/assignments/members',
        'GET /guardrails/{id}/assignments/keys',
        'GET /guardrails/{id}/assignments/members',
        'POST /guardrails/{id}/assignments/keys',
        'POST /guardrails/{id}/assignments/keys/remove',
        'POST /guardrails/{id}/assignments/members',
        'POST /guardrails/{id}/assignments/members/remove',
        'POST /observability/destinations',
        'GET /observability/destinations',
        'GET /observability/destinations/{id}',
        'PATCH /observability/destinations/{id}',
        'DELETE /observability/destinations/{id}',
        'POST /observability/destinations/{id}/test',
        'POST /classifiers',
        'GET /classifiers',
        'GET /classifiers/{id}',
        'PATCH /classifiers/{id}',
        'DELETE /classifiers/{id}',
        'POST /classifiers/{id}/test',
        'POST /classifiers/{id}/runs',
        'GET /classifiers/{id}/runs',
        'GET /classifiers/{id}/runs/{run_id}',
        'POST /classifiers/{id}/runs/{run_id}/stop',
        'GET /observability/destination-types',
        'POST /byok',
        'GET /byok',
        'GET /byok/{id}',
        'PATCH /byok/{id}',
        'DELETE /byok/{id}',
        'POST /keys',
        'GET /keys',
        'GET /keys/{hash}',
        'PATCH /keys/{hash}',
        'DELETE /keys/{hash}',
        'POST /workspaces',
        'GET /workspaces',
        'GET /workspaces/{id}',
        'PATCH /workspaces/{id}',
        'DELETE /workspaces/{id}',
        'GET /workspaces/{id}/budgets',
        'GET /workspaces/{id}/budgets/{interval}',
        'PUT /workspaces/{id}/budgets/{interval}',
        'DELETE /workspaces/{id}/budgets/{interval}',
        'GET /credits',
        'GET /gateway/providers',
        'POST /gateway/providers',
        'POST /gateway/providers/test',
        'GET /gateway/providers/{slug}',
        'PATCH /gateway/providers/{slug}',
        'DELETE /gateway/providers/{slug}',
        'GET /gateway/endpoints',
        'GET /gateway/prices',
        'GET /gateway/presets',
        'GET /gateway/configuration',
        'GET /gateway/findings',
        'POST /credits/coinbase',
        'GET /openapi.json',
      ].sort(),
    );
  });

  it('has no public routes but the intended ones', () => {
    const pathsOf = (kind: string) =>
      ROUTES.filter((route) => keyKindOf(route) === kind).map(({ path }) => path);
    expect(pathsOf('none').sort()).toEqual(
      ['/', '/credits/coinbase', '/docs', '/healthz', '/openapi.json', '/readyz'].sort(),
    );
    expect(pathsOf('optional').sort()).toEqual(
      [
        '/model/{author}/{slug}',
        '/models',
        '/models/{id}',
        '/models/{author}/{slug}',
        '/models/{author}/{slug}/endpoints',
        '/models/count',
        '/providers',
        '/sessions/current',
      ].sort(),
    );
  });

  it('needs, with the commands of the control socket, every permission of the table', () => {
    const named = [...ROUTES, ...Object.values(COMMANDS)].map(({ permission }) => permission);
    expect([...new Set(named)].sort()).toEqual(Object.keys(PERMISSIONS).sort());
  });

  it('declares every member of its rows', () => {
    for (const route of ROUTES) {
      expect(route.summary).not.toBe('');
      // What was removed takes nothing and gives nothing.
      if (Object.keys(route.responses).includes('410')) continue;
      expect(
        Object.keys(route.responses).filter((status) => status.startsWith('2') && status !== '202'),
      ).toHaveLength(1);
      expect(Object.keys(route.responses)).toContain('500');
      const kind = keyKindOf(route);
      if (!['none', 'optional'].includes(kind)) expect(Object.keys(route.responses)).toContain('401');
      const { body, form } = route.request;
      // A sign-in has nothing but its key, a test of a connection and a stop nothing but what is stored.
      const hasNone = ['createSession', 'testDestination', 'stopClassifierRun'].includes(route.operationId);
      const takesBody = ['POST', 'PUT', 'PATCH'].includes(route.method) && !hasNone;
      expect(body !== null || form !== undefined).toBe(takesBody);
      if (['management', 'operator'].includes(kind)) expect(Object.keys(route.responses)).toContain('403');
      expect(kind === 'inference').toBe(route.rateClass === 'generation');
    }
  });
});

describe('the OpenAPI document', () => {
  const document = describeRoutes(ROUTES, { vendor: 'signalbox', basePath: '/api/v1' }) as any;

  it('is served, with the vendor word of the installation', async () => {
    const { port } = await startServer();
    const { status, json, headers } = await ask(port, { path: '/api/v1/openapi.json' });
    expect(status).toBe(200);
    expect(headers['content-type']).toContain('application/json');
    expect(json).toEqual(JSON.parse(JSON.stringify(document)));
    expect(json.openapi).toBe('3.1.0');
    const names = json.paths['/responses'].post.parameters.map(({ name }: { name: string }) => name);
    expect(names).toContain('X-Signalbox-Metadata');
  });

  it('refers only to its own schemas', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(20);
    for (const [, name] of references) expect(Object.keys(document.components.schemas)).toContain(name);
    const schemes = Object.keys(document.components.securitySchemes);
    for (const operation of operationsOf(document)) {
      for (const requirement of operation.security) {
        for (const scheme of Object.keys(requirement)) expect(schemes).toContain(scheme);
      }
    }
  });

  it('has valid schemas, and none of our own keywords', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const [name, schema] of Object.entries<any>(document.components.schemas)) {
      expect([name, ajv.validateSchema(schema)]).toEqual([name, true]);
    }
    for (const { parameters = [] } of operationsOf(document)) {
      for (const { name, schema } of parameters) {
        expect([name, ajv.validateSchema(schema)]).toEqual([name, true]);
      }
    }
    expect(JSON.stringify(document)).not.toMatch(/"(explain|discriminator)":/);
  });

  it('accepts and refuses what the server accepts and refuses', () => {
    const ajv = compilerOf(document);
    const request = ajv.compile({ $ref: 'document#/components/schemas/CreateResponseRequest' });
    expect(request({ model: 'a/b', input: 'hi' })).toBe(true);
    expect(request({ model: 'a/b', input: 'hi', temperature: 5 })).toBe(false);
    const error = ajv.compile({ $ref: 'document#/components/schemas/Error' });
    expect(error({ error: { code: 400, message: 'x' } })).toBe(true);
    expect(error({ error: { code: '400', message: 'x' } })).toBe(false);
  });

  it('declares every path parameter and describes every reply', () => {
    for (const [path, item] of Object.entries<any>(document.paths)) {
      for (const operation of operationsOf({ paths: { [path]: item } })) {
        const declared = (operation.parameters ?? [])
          .filter((parameter: any) => parameter.in === 'path')
          .map(({ name }: { name: string }) => name);
        expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
        for (const [status, response] of Object.entries<any>(operation.responses)) {
          expect(status).toMatch(/^\d{3}$/);
          expect(response.description).not.toBe('');
        }
      }
    }
  });
});

describe('the examples', () => {
  const document = describeRoutes(ROUTES, { vendor: 'signalbox', basePath: '/api/v1' }) as any;
  const ajv = compilerOf(document);
  const checks = new Map<object, ValidateFunction>();
  const checkOf = (schema: object) => {
    const known = checks.get(schema);
    if (known !== undefined) return known;
    const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')));
    checks.set(schema, check);
    return check;
  };
  const issuesOf = (schema: object, value: unknown) => {
    const check = checkOf(schema);
    return check(value) ? [] : check.errors;
  };
  const described = ROUTES.filter(({ example }) => example !== null);

  it.each(described.map((route) => [route.operationId, route] as const))('of %s are valid', (_, route) => {
    const operation = document.paths[route.path][route.method.toLowerCase()];
    const body = operation.requestBody?.content['application/json'];
    const bodies =
      body?.examples === undefined
        ? [body?.example]
        : Object.values<any>(body.examples).map(({ value }) => value);
    if (body !== undefined) for (const each of bodies) expect(issuesOf(body.schema, each)).toEqual([]);
    for (const { name, required, schema, example } of operation.parameters ?? []) {
      if (required) expect([name, example]).not.toEqual([name, undefined]);
      if (example !== undefined) expect(issuesOf(schema, example)).toEqual([]);
    }
    const status = Object.keys(operation.responses).find((key) => key.startsWith('2')) ?? '';
    const [[type, media]] = Object.entries<any>(operation.responses[status].content) as any;
    expect(media.example, type).toBeDefined();
    expect(issuesOf(media.schema, media.example)).toEqual([]);
    const languages = codeSamplesOf(route, '/api/v1').map(({ language }) => language);
    expect(languages).toEqual(['curl', 'JavaScript', 'Python']);
  });

  it('leave out what was removed, and nothing else', () => {
    for (const { example, responses } of ROUTES) expect('410' in responses).toBe(example === null);
    expect(document.paths['/credits/coinbase']).toBeUndefined();
  });

  it('are in groups that say what they are for', () => {
    for (const { name, description } of document.tags) expect([name, description]).not.toEqual([name, '']);
  });
});

describe('the page', () => {
  it('loads nothing from outside, under a policy that names its own style and script', async () => {
    const { port } = await startServer();
    const { status, headers, text } = await ask(port, { path: '/docs' });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    // The address of the samples is this server's own; the script puts that of the reader in its place.
    const outside = text.replaceAll(SAMPLE_ORIGIN, '');
    expect(outside).not.toMatch(/<script\s|<link|<img|https?:\/\/|\sstyle=|<[^>]+\son\w+=/i);
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
    const script = /<script>([\s\S]*)<\/script>/.exec(text)?.[1] ?? '';
    for (const own of [style, script]) {
      expect(policy).toContain(`'sha256-${createHash('sha256').update(own).digest('base64')}'`);
    }
    expect(policy).not.toContain('unsafe');
  });

  it('shows every operation, with links that lead somewhere', async () => {
    const { port } = await startServer();
    const { text: whole } = await ask(port, { path: '/docs/' });
    const text = whole.replace(/<script>[\s\S]*<\/script>/, '');
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const { operationId, example } of ROUTES) expect(ids.has(operationId)).toBe(example !== null);
    const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    for (const link of links) expect(ids).toContain(link);
    expect(links).toContain('schema-CreateResponseRequest');
    expect(balanced(text)).toBe(true);
  });
});

/** Compiles what many schemas refer to once, and as quickly as it can: most checks run once. */
function compilerOf(document: object): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  return ajv.addSchema({ $id: 'document', ...document });
}

function operationsOf(document: any): any[] {
  return Object.values<any>(document.paths).flatMap((item) =>
    Object.entries<any>(item)
      .filter(([method]) => method !== 'servers')
      .map(([, operation]) => operation),
  );
}

/** Whether every element that is opened is closed, in order. */
function balanced(html: string): boolean {
  const open: string[] = [];
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/g)) {
    if (['meta', 'br', 'input'].includes(name)) continue;
    if (slash === '') open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}
