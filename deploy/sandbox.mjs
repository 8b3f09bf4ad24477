// A sandbox for the tools that run code: `node sandbox.mjs`. Each run is a container without a network; the files in
// /work of a session are kept in a volume of its own. See docs/guide/sandbox.md for the requests.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const { PORT = '8890', SANDBOX_TOKEN: token, SANDBOX_RUN: run } = process.env;
const DOCKER = 'docker run --rm -i --network none --memory 512m --pids-limit 128 -v SESSION:/work -w /work python:3-slim';
const PROGRAMS = { bash: ['bash', '-s'], python: ['python3', '-'] };

createServer(async (request, response) => {
  if (token && request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
  const body = Buffer.concat(await request.toArray()).toString();
  const { session_id: session, language, code, timeout_ms: ms } = JSON.parse(body);
  const place = (run ?? DOCKER).replace('SESSION', `sandbox-${session}`).split(' ');
  const [program, ...words] = [...place, 'timeout', '-k', '1', String(ms / 1000), ...PROGRAMS[language]];
  const child = spawn(program, words);
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => stream.toArray());
  child.stdin.on('error', () => {}).end(code);
  const exit_code = await new Promise((resolve) => child.on('error', () => resolve(127)).on('close', resolve));
  const text = async (pieces) => Buffer.concat(await pieces).toString();
  const reply = { stdout: await text(stdout), stderr: await text(stderr), exit_code, timed_out: exit_code === 124 };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
}).listen(Number(PORT), '127.0.0.1', () => console.log(`sandbox on http://127.0.0.1:${PORT}`));
