/*
 * Runs inside a network namespace of its own, where every address below is on the loopback interface: a connection that
 * must not be made would succeed and be counted. Reads its work as JSON from standard input and writes what it saw.
 */
import { createServer } from 'node:net';
import { pathToFileURL } from 'node:url';

const { bundle, hosts, urls } = JSON.parse(await text(process.stdin));
const { createEgress } = await import(pathToFileURL(bundle).href);

const PAGE = '11.22.33.44';
/** Where connections came in, by the address and port that they were made to. */
const connections = new Map();
/** Where the page redirects to, by path. */
const targets = [...hosts.map((host) => `http://${host}/`), ...urls];

function answer(path) {
  const [, kind, number] = path.split('/');
  // Some targets are relative to the page they stand on, and lead back to it.
  const target = kind === 'to' ? targets[Number(number)] : undefined;
  if (target !== undefined) return redirect(302, target);
  // One more redirect than are followed ends at the sentinel if they are all followed.
  if (kind === 'chain')
    return redirect(307, Number(number) > 0 ? `/chain/${number - 1}` : 'http://127.0.0.1/');
  return 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npage';
}

function redirect(status, location) {
  const written = Buffer.from(location.replace(/[\r\n]/g, ' ')).toString('latin1');
  return `HTTP/1.1 ${status} Moved\r\nlocation: ${written}\r\ncontent-length: 0\r\n\r\n`;
}

function listen(port) {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      const at = `${socket.localAddress.replace('::ffff:', '')}:${port}`;
      connections.set(at, (connections.get(at) ?? 0) + 1);
      socket.on('error', () => {});
      socket.once('data', (bytes) => {
        const [, path] = bytes.toString('latin1').split(' ');
        socket.end(answer(path), 'latin1');
      });
    });
    server.listen(port, '::', resolve);
  });
}

for (const port of [22, 80, 443, 8080]) await listen(port);

const limits = { totalMs: 3000, maxBytes: 1000, maxRedirects: 5 };
const outcomes = [];
async function fetchFrom(egress, url) {
  try {
    const { status } = await egress.fetch(url, { limits, signal: AbortSignal.timeout(5000) });
    outcomes.push([url, status]);
  } catch (problem) {
    outcomes.push([url, problem.reason ?? String(problem)]);
  }
}

const egress = createEgress({ rules: () => ({ rules: [] }) });
for (const url of targets) await fetchFrom(egress, url);
for (const index of targets.keys()) await fetchFrom(egress, `http://${PAGE}/to/${index}`);
await fetchFrom(egress, `http://${PAGE}/chain/6`);
// Names that the system's resolver knows: private ones, one that is public and private at once, and the page.
for (const name of ['loop.example', 'meta.example', 'both.example', 'six.example']) {
  await fetchFrom(egress, `http://${name}/`);
}
// A resolver that answers differently each time: public first, then loopback.
let asked = 0;
const rebinding = createEgress({
  rules: () => ({ rules: [] }),
  lookUpAll: (_host, _options, callback) =>
    callback(null, [{ address: asked++ % 2 === 0 ? PAGE : '127.0.0.1', family: 4 }]),
});
for (let time = 0; time < 6; time++) await fetchFrom(rebinding, 'http://rebind.example/');
await fetchFrom(egress, `http://${PAGE}/`);
process.stdout.write(JSON.stringify({ connections: Object.fromEntries(connections), outcomes }));
process.exit(0);

async function text(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
