// A sandbox for the tools that run code: `node sandbox.mjs`. Each run is a container without a network; the files in
// /work of a session are kept in a volume of its own. See docs/guide/sandbox.md for the requests.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const { PORT = '8890', SANDBOX_TOKEN: token, SANDBOX_RUN: run } = process.env;
const DOCKER =
  'docker run --rm -i --network none --cap-drop ALL --security-opt no-new-privileges --memory 512m --pids-limit 128 ' +
  '-v SESSION:/work -w /work python:3-slim';
/** Characters of each output that are kept. */
const MAX_OUTPUT = 1_000_000;
const PROGRAMS = { bash: ['bash', '-s'], python: ['python3', '-'] };

createServer((request, response) => {
  // A caller that leaves in the middle of its request must not end the service.
  answer(request, response).catch(() => response.destroy());
}).listen(Number(PORT), '127.0.0.1', () => console.log(`sandbox on http://127.0.0.1:${PORT}`));

async function answer(request, response) {
  if (token && request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
  const body = Buffer.concat(await request.toArray()).toString();
  const { session_id: session, language, code, timeout_ms: ms } = parsed(body);
  if (!/^[\w-]+$/.test(session) || !Object.hasOwn(PROGRAMS, language) || typeof code !== 'string' || !(ms > 0))
    return response.writeHead(400).end('session_id, language, code and timeout_ms are needed');
  const place = (run ?? DOCKER).replace('SESSION', `sandbox-${session}`).split(' ');
  const [program, ...words] = [...place, 'timeout', '-k', '1', String(ms / 1000), ...PROGRAMS[language]];
  const child = spawn(program, words);
  const outputs = [child.stdout, child.stderr].map(kept);
  child.stdin.on('error', () => {}).end(code);
  const exit_code = await new Promise((resolve) => child.on('error', () => resolve(127)).on('close', resolve));
  const [stdout, stderr] = await Promise.all(outputs);
  const reply = { stdout, stderr, exit_code, timed_out: exit_code === 124 };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
}

function parsed(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

/** The beginning of an output. The rest is read and dropped, so that no script fills the memory of this service. */
async function kept(stream) {
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) {
    if (text.length < MAX_OUTPUT) text += piece.slice(0, MAX_OUTPUT - text.length);
  }
  return text;
}
