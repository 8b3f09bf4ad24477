import { anthropicBase } from '../../contract/gateway/anthropic-base.ts';
import { type KeyKind, PERMISSIONS } from '../../endpoints/permissions.ts';
import { isJsonObject, type Json } from '../../kit/json/json.ts';
import type { ListedRoute, RouteExample } from '../route.ts';

/** The address in samples; the page's script replaces it by that of the reader. */
export const SAMPLE_ORIGIN = 'http://127.0.0.1:8787';

export interface CodeSample {
  readonly language: 'curl' | 'JavaScript' | 'Python';
  readonly code: string;
}

/** The example of a row as code, in every language. */
export function codeSamplesOf(route: ListedRoute, basePath: string): readonly CodeSample[] {
  const example = route.example ?? { answer: null };
  const call = { route, example, address: addressOf(route, example, basePath), key: keyVariableOf(route) };
  const official = example.client === undefined ? undefined : clientCode(call, basePath);
  return [
    { language: 'curl', code: curl(call) },
    { language: 'JavaScript', code: official?.javaScript ?? fetchCode(call) },
    { language: 'Python', code: official?.python ?? requestsCode(call) },
  ];
}

interface SampleCall {
  readonly route: ListedRoute;
  readonly example: RouteExample;
  readonly address: string;
  /** The environment variable with the key; undefined if none is needed. */
  readonly key: string | undefined;
}

function addressOf(
  { mount, path }: ListedRoute,
  { params = {}, query = {} }: RouteExample,
  basePath: string,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return `${SAMPLE_ORIGIN}${mount === 'api' ? basePath : ''}${filled}${search === '' ? '' : `?${search}`}`;
}

const KEY_VARIABLES: Readonly<Record<KeyKind, string | undefined>> = {
  none: undefined,
  optional: undefined,
  any: 'SIGNALBOX_API_KEY',
  inference: 'SIGNALBOX_API_KEY',
  management: 'SIGNALBOX_MANAGEMENT_KEY',
  operator: 'SIGNALBOX_MANAGEMENT_KEY',
  machine: undefined,
};

function keyVariableOf({ permission }: ListedRoute): string | undefined {
  return KEY_VARIABLES[PERMISSIONS[permission]];
}

function curl({ route, example, address, key }: SampleCall): string {
  const { body, form } = example;
  const isImplied = route.method === 'GET' || (route.method === 'POST' && (body ?? form) !== undefined);
  return [
    `curl ${isImplied ? '' : `-X ${route.method} `}${/[?&]/.test(address) ? `'${address}'` : address}`,
    ...(key === undefined ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...(body === undefined
      ? []
      : [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`,
        ]),
    ...Object.entries(form ?? {}).map(([part, file]) => `-F ${part}=@${file}`),
  ].join(' \\\n  ');
}

function fetchCode({ route, example, address, key }: SampleCall): string {
  const { body, form } = example;
  const headers = [
    ...(key === undefined ? [] : [`Authorization: \`Bearer \${env.${key}}\``]),
    ...(body === undefined ? [] : [`'Content-Type': 'application/json'`]),
  ];
  const options = [
    ...(route.method === 'GET' ? [] : [`method: '${route.method}'`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(', ')} }`]),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indented(javaScriptOf(body))})`]),
    ...(form === undefined ? [] : ['body: form']),
  ];
  const parts = Object.entries(form ?? {}).map(
    ([part, file]) => `form.append('${part}', await openAsBlob('${file}'), '${file}');\n`,
  );
  const imports = [
    ...(key === undefined ? [] : ["import { env } from 'node:process';\n"]),
    ...(form === undefined ? [] : ["import { openAsBlob } from 'node:fs';\n"]),
  ];
  const opening =
    (imports.length === 0 ? '' : `${imports.join('')}\n`) +
    (form === undefined ? '' : `const form = new FormData();\n${parts.join('')}\n`);
  const given = options.length === 0 ? '' : `, {\n${options.map((option) => `  ${option},\n`).join('')}}`;
  return (
    `${opening}const reply = await fetch('${address}'${given});\n` +
    `console.log(await reply.${isText(example) ? 'text' : 'json'}());`
  );
}

function requestsCode({ route, example, address, key }: SampleCall): string {
  const { body, form } = example;
  const given = [
    `"${address}"`,
    ...(key === undefined ? [] : [`headers={"Authorization": f"Bearer {os.environ['${key}']}"}`]),
    ...(body === undefined ? [] : [`json=${indented(pythonOf(body))}`]),
    ...(form === undefined
      ? []
      : [`files={${Object.entries(form).map(([part, file]) => `"${part}": open("${file}", "rb")`)}}`]),
  ];
  return (
    `${key === undefined ? '' : 'import os\n'}import requests\n\n` +
    `reply = requests.${route.method.toLowerCase()}(\n${given.map((value) => `    ${value},\n`).join('')})\n` +
    `print(reply.${isText(example) ? 'text' : 'json()'})`
  );
}

/** Differences between the official clients. */
const CLIENTS = {
  openai: { package: 'openai', name: 'OpenAI', cutsVersion: false },
  // This client adds `/v1` itself.
  anthropic: { package: '@anthropic-ai/sdk', name: 'Anthropic', cutsVersion: true },
} as const;

function clientCode({ example, key }: SampleCall, basePath: string) {
  const { library, method } = example.client ?? { library: 'openai', method: '' };
  const client = CLIENTS[library];
  const base = SAMPLE_ORIGIN + (client.cutsVersion ? anthropicBase(basePath) : basePath);
  const fields = Object.entries(example.body ?? {});
  const inPython = method.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    javaScript:
      `import { env } from 'node:process';\nimport ${client.name} from '${client.package}';\n\nconst client = new ${client.name}({\n` +
      `  baseURL: '${base}',\n  apiKey: env.${key},\n});\n\n` +
      `const answer = await client.${method}(${javaScriptOf(example.body ?? {})});\nconsole.log(answer);`,
    python:
      `import os\nfrom ${library} import ${client.name}\n\nclient = ${client.name}(\n` +
      `    base_url="${base}",\n    api_key=os.environ["${key}"],\n)\n\n` +
      `answer = client.${inPython}(\n` +
      `${fields.map(([name, value]) => `    ${name}=${indented(pythonOf(value as Json))},\n`).join('')})\nprint(answer)`,
  };
}

function isText({ answer }: RouteExample): boolean {
  return typeof answer === 'string';
}

/** All lines but the first moved to the right. */
function indented(code: string): string {
  return code.replaceAll('\n', '\n    ');
}

function javaScriptOf(value: Json): string {
  return JSON.stringify(value, null, 2).replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:');
}

const PYTHON_WORDS: ReadonlyMap<Json, string> = new Map<Json, string>([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

function pythonOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`;
  if (!isJsonObject(value)) return PYTHON_WORDS.get(value) ?? JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${pythonOf(member as Json)}`);
  return `{${members.join(', ')}}`;
}
